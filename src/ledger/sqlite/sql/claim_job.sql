UPDATE OR FAIL jobs SET revision = revision + 1, state = 'CLAIMED', state_since = ?, solo = ?, binding = ?, worker_id = ?,
                claim_id = ?, epoch = ?, fence = ?, claimed_at = ?, lease_until = ?, not_before = NULL, last_audit = ?
WHERE seq = ? AND state = ? AND revision = ?
