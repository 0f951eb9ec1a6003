INSERT OR FAIL INTO files (audit, take, name, name_created_us, owner_uid, taken_at, rejected_at, sha256, job_id, reason, detail,
                   epoch, worker_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
