SELECT audit, take, name, name_created_us, owner_uid, taken_at, rejected_at, sha256, files.job_id, files.reason, files.detail, files.epoch,
       files.worker_id, hash
FROM files JOIN audit ON audit.seq = files.audit WHERE take = ?
