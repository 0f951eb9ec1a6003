SELECT seq, object_id, vault_path FROM jobs INDEXED BY jobs_behind WHERE behind = ?
