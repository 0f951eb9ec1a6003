INSERT OR FAIL INTO epochs (epoch, binding, lease_id, connector_id, begun_at) VALUES (?, ?, ?, ?, ?)
