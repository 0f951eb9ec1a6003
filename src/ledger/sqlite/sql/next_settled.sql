SELECT settle_until FROM jobs INDEXED BY jobs_settling WHERE settle_until > ? ORDER BY settle_until LIMIT 1
