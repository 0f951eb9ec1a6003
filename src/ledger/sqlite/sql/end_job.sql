UPDATE OR FAIL jobs SET revision = revision + 1, state = ?, state_since = ?, occupies = ?, behind = NULL, suspect = 0,
                binding = NULL, attempt_count = ?, may_have_effect = ?, not_before = NULL, settle_until = ?, reason = ?,
                result = ?, finished_at = ?, http_status = ?, expected_sha256 = ?, observed_sha256 = ?, detail = ?,
                last_audit = ?, end_audit = ?
WHERE seq = ? AND state = ? AND revision = ?
