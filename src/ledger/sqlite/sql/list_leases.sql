SELECT tenant, agent, binding, lease_id, connector_id, scopes, epoch, acquired_at, heartbeat_at, expires_at, released_at,
       boot_id, expires_boot
FROM leases ORDER BY tenant, agent, binding
