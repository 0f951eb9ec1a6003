UPDATE OR FAIL jobs SET revision = revision + 1, state = 'EXECUTING', state_since = ?, attempts = ?, attempt_count = ?,
                may_have_effect = ?, last_audit = ?
WHERE seq = ? AND state = 'CLAIMED' AND claim_id = ? AND revision = ?
