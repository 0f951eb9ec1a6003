INSERT OR FAIL INTO attempts (job_seq, number, attempt_id, effect, effect_key, repetition, content_sha256, started_at, ended_at,
                      outcome, epoch, fence)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
