SELECT seq FROM jobs INDEXED BY jobs_ready
WHERE state = 'READY' AND behind IS NULL AND follows IS NULL AND suspect = 0 AND seq > ? ORDER BY seq LIMIT ?
