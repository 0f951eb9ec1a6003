SELECT expires_boot FROM leases
WHERE tenant = ? AND agent = ? AND binding = ? AND lease_id = ? AND connector_id = ? AND epoch = ? AND released_at IS NULL
  AND boot_id = ?
