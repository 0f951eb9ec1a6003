INSERT OR FAIL INTO late_evidence (at, job_seq, claim_id, lease_id, worker_id, epoch, claimed_state, reason, result,
                           may_have_effect, http_status, expected_sha256, observed_sha256, detail)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
