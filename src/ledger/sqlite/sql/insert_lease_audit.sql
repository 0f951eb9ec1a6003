INSERT OR FAIL INTO lease_audit (seq, at, event, outcome, reason, tenant, agent, binding, connector_id, epoch, correlation,
                         prev_hash, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
