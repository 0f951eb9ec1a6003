SELECT audit.seq, audit.job_seq, audit.event
FROM audit CROSS JOIN epochs ON epochs.epoch = audit.epoch
WHERE audit.seq > ? AND epochs.binding = ?
  AND (audit.to_state IN ('SUCCEEDED', 'FAILED', 'REJECTED', 'OUTCOME_UNKNOWN') OR audit.event = 'DUPLICATE')
ORDER BY audit.seq
