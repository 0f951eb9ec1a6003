UPDATE OR FAIL effects SET state = ? WHERE id = ? AND state <> 'APPLIED'
