SELECT commit_id, content_sha256 FROM
  (SELECT * FROM (SELECT commit_id, content_sha256, applied_audit FROM effects INDEXED BY effects_object
                  WHERE object_id = ?1 AND applied_audit IS NOT NULL ORDER BY applied_audit DESC LIMIT 1)
   UNION ALL
   SELECT * FROM (SELECT commit_id, content_sha256, applied_audit FROM effects INDEXED BY effects_path
                  WHERE vault_path = ?2 AND applied_audit IS NOT NULL ORDER BY applied_audit DESC LIMIT 1))
ORDER BY applied_audit DESC LIMIT 1
