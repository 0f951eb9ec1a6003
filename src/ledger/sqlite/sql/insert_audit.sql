INSERT OR FAIL INTO audit (seq, at, event, job_seq, job_id, mission_id, job_type, object_id, from_state, to_state, move,
                   worker_id, claim_id, attempt, epoch, fence, reason, result, approval_id, provenance_hash, actor, detail,
                   prev_hash, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
