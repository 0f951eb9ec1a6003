SELECT seq FROM jobs INDEXED BY jobs_follows WHERE follows = ? AND follows IS NOT NULL AND state = 'READY' ORDER BY seq
