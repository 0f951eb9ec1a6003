INSERT OR FAIL INTO jobs (seq, job_id, mission_id, object_id, vault_path, commit_id, provenance_hash, expected_state, created_at,
                  idempotency_key, delete_request_id, approval_id, job_sha256, take, name_created_us, owner_uid, taken_at,
                  admitted_at, follows, deadline_at, revision, state, state_since, occupies, behind, binding, worker_id,
                  claim_id, epoch, fence, claimed_at, lease_until, reason, result, finished_at, detail, last_audit, end_audit)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
