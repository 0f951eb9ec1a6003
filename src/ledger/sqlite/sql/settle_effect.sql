UPDATE OR FAIL effects SET state = ? WHERE id = ? AND state NOT IN ('APPLIED', 'UNSENT')
