SELECT coalesce(max(last_audit), 0) FROM jobs
