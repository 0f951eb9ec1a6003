CREATE INDEX jobs_unknown ON jobs (seq) WHERE state = 'OUTCOME_UNKNOWN'
