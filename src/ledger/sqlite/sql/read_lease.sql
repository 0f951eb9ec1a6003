SELECT lease_id, connector_id, scopes, epoch, acquired_at, heartbeat_at, expires_at, released_at, boot_id, expires_boot
FROM leases WHERE tenant = ? AND agent = ? AND binding = ?
