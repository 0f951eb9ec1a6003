SELECT seq FROM jobs INDEXED BY jobs_retryable
WHERE state = 'RETRYABLE' AND not_before <= ? AND suspect = 0 ORDER BY not_before LIMIT ?
