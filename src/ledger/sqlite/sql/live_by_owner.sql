SELECT owner_uid, count(*) FROM
  (SELECT owner_uid FROM jobs INDEXED BY jobs_ready WHERE state = 'READY' AND behind IS NULL AND follows IS NULL
   UNION ALL SELECT owner_uid FROM jobs INDEXED BY jobs_behind WHERE behind IS NOT NULL
   UNION ALL SELECT owner_uid FROM jobs INDEXED BY jobs_follows WHERE follows IS NOT NULL AND state = 'READY'
   UNION ALL SELECT owner_uid FROM jobs INDEXED BY jobs_retryable WHERE state = 'RETRYABLE'
   UNION ALL SELECT owner_uid FROM jobs INDEXED BY jobs_held WHERE binding IS NOT NULL)
GROUP BY owner_uid ORDER BY owner_uid
