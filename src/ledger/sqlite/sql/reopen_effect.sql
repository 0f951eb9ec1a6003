UPDATE OR FAIL effects SET state = 'POSSIBLE', job_seq = ? WHERE id = ? AND state = 'UNSENT'
