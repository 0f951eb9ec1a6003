SELECT (SELECT count(*) FROM jobs INDEXED BY jobs_ready WHERE state = 'READY' AND behind IS NULL AND follows IS NULL)
     + (SELECT count(*) FROM jobs INDEXED BY jobs_behind WHERE behind IS NOT NULL)
     + (SELECT count(*) FROM jobs INDEXED BY jobs_follows WHERE follows IS NOT NULL AND state = 'READY')
