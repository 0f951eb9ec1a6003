SELECT owner_uid, count(*), coalesce(sum(length(bytes)), 0) FROM
  (SELECT seq, owner_uid FROM jobs INDEXED BY jobs_ready WHERE state = 'READY' AND behind IS NULL AND follows IS NULL
   UNION ALL SELECT seq, owner_uid FROM jobs INDEXED BY jobs_behind WHERE behind IS NOT NULL
   UNION ALL SELECT seq, owner_uid FROM jobs INDEXED BY jobs_follows WHERE follows IS NOT NULL AND state = 'READY'
   UNION ALL SELECT seq, owner_uid FROM jobs INDEXED BY jobs_retryable WHERE state = 'RETRYABLE'
   UNION ALL SELECT seq, owner_uid FROM jobs INDEXED BY jobs_held WHERE binding IS NOT NULL) AS live
  LEFT JOIN job_bodies ON job_bodies.seq = live.seq
GROUP BY owner_uid ORDER BY owner_uid
