SELECT seq, object_id, vault_path, settle_until FROM jobs INDEXED BY jobs_settling WHERE settle_until > ?
