UPDATE attempts SET ended_at = coalesce(ended_at, ?1), outcome = ?2, http_status = coalesce(http_status, ?3),
                    observed_sha256 = coalesce(?4, observed_sha256)
WHERE job_seq = ?5 AND number = ?6 AND (outcome IS NULL OR outcome = 'POSSIBLE')
