SELECT jobs.seq, job_id, mission_id, object_id, vault_path, commit_id, provenance_hash, expected_state, created_at,
       idempotency_key, delete_request_id, approval_id, job_sha256, take, name_created_us, owner_uid, admitted_at, follows,
       deadline_at, revision, state, state_since, behind, suspect, solo, claim_deaths, binding, worker_id, claim_id,
       jobs.epoch, jobs.fence, attempts, attempt_count, may_have_effect, not_before, settle_until, reason, result,
       finished_at, jobs.http_status, expected_sha256, jobs.observed_sha256, detail, last_audit, end_audit,
       attempt_id, effect, effect_key, content_sha256, repetition, length(bytes)
FROM jobs LEFT JOIN attempts ON attempts.job_seq = jobs.seq AND attempts.number = jobs.attempts
  LEFT JOIN job_bodies ON job_bodies.seq = jobs.seq
WHERE jobs.seq = ?
