SELECT not_before FROM jobs INDEXED BY jobs_retryable WHERE state = 'RETRYABLE' ORDER BY not_before LIMIT 1
