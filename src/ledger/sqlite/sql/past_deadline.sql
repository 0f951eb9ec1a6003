SELECT seq FROM jobs INDEXED BY jobs_deadline
WHERE ((state = 'READY' AND follows IS NULL) OR state = 'RETRYABLE') AND deadline_at <= ?
ORDER BY deadline_at LIMIT ?
