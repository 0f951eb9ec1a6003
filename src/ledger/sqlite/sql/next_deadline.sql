SELECT deadline_at FROM jobs INDEXED BY jobs_deadline
WHERE (state = 'READY' AND follows IS NULL) OR state = 'RETRYABLE' ORDER BY deadline_at LIMIT 1
