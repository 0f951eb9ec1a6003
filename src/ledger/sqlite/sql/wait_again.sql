UPDATE OR FAIL jobs SET revision = revision + 1, state = ?, state_since = ?, suspect = ?, claim_deaths = ?, binding = NULL,
                attempt_count = ?, may_have_effect = ?, not_before = ?, settle_until = ?, reason = ?, http_status = ?,
                expected_sha256 = ?, observed_sha256 = ?, detail = ?, last_audit = ?
WHERE seq = ? AND state = ? AND revision = ?
