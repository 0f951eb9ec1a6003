INSERT OR FAIL INTO effects (effect_key, repetition, object_id, vault_path, commit_id, content_sha256, job_seq, state)
VALUES (?, ?, ?, ?, ?, ?, ?, 'POSSIBLE')
