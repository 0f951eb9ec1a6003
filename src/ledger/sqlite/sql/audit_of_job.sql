SELECT seq, at, event, job_id, mission_id, job_type, object_id, from_state, to_state, move, worker_id, claim_id, attempt,
       epoch, fence, reason, result, approval_id, provenance_hash, actor, detail, prev_hash, hash
FROM audit
WHERE seq > ?1 AND seq IN (SELECT seq FROM audit WHERE job_seq = (SELECT seq FROM jobs WHERE job_id = ?2)
                           UNION SELECT audit FROM files WHERE job_id = ?2 AND job_id IS NOT NULL)
ORDER BY seq LIMIT ?3
