SELECT seq FROM jobs INDEXED BY jobs_suspect
WHERE suspect = 1 AND ((state = 'READY' AND behind IS NULL) OR (state = 'RETRYABLE' AND not_before <= ?))
ORDER BY seq LIMIT 1
