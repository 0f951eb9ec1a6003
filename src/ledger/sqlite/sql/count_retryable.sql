SELECT count(*) FROM jobs INDEXED BY jobs_retryable WHERE state = 'RETRYABLE'
