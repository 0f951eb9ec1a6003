UPDATE leases SET heartbeat_at = ?, expires_at = ?, updated_at = ?, boot_id = ?, expires_boot = ?
WHERE tenant = ? AND agent = ? AND binding = ? AND lease_id = ? AND connector_id = ? AND epoch = ? AND released_at IS NULL
