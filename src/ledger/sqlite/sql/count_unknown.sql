SELECT count(*) FROM jobs INDEXED BY jobs_unknown WHERE state = 'OUTCOME_UNKNOWN'
