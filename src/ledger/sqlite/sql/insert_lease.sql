INSERT INTO leases (tenant, agent, binding, lease_id, connector_id, scopes, epoch, acquired_at, heartbeat_at, expires_at,
                    updated_at, boot_id, expires_boot)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
