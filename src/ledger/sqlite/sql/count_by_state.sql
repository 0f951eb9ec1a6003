SELECT state, count(*) FROM jobs GROUP BY state
