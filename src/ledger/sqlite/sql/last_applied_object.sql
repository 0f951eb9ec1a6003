SELECT applied_audit, commit_id, content_sha256 FROM effects INDEXED BY effects_object
WHERE object_id = ? AND applied_audit IS NOT NULL ORDER BY applied_audit DESC LIMIT 1
