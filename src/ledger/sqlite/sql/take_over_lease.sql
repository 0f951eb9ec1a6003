UPDATE leases SET lease_id = ?, connector_id = ?, scopes = ?, epoch = ?, acquired_at = ?, heartbeat_at = ?, expires_at = ?,
                  released_at = NULL, updated_at = ?, boot_id = ?, expires_boot = ?
WHERE tenant = ? AND agent = ? AND binding = ? AND epoch = ?
