UPDATE leases SET released_at = ?, updated_at = ?
WHERE tenant = ? AND agent = ? AND binding = ? AND lease_id = ? AND connector_id = ? AND epoch = ? AND released_at IS NULL
