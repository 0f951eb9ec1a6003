SELECT attempt_id, number, repetition, effect_key, content_sha256, started_at, ended_at, outcome, http_status,
       observed_sha256, epoch, fence
FROM attempts WHERE job_seq = ? ORDER BY number
