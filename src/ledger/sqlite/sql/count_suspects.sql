SELECT count(*) FROM jobs INDEXED BY jobs_suspect WHERE suspect = 1 AND state IN ('READY', 'RETRYABLE')
