UPDATE OR FAIL jobs SET revision = revision + 1, state = 'EXECUTING', state_since = ?, suspect = 1, solo = ?, claim_deaths = ?,
                binding = ?, worker_id = ?, claim_id = ?, epoch = ?, fence = ?, claimed_at = ?, lease_until = ?,
                last_audit = ?
WHERE seq = ? AND state = 'EXECUTING' AND revision = ?
