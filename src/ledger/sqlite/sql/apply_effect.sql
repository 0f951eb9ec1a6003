UPDATE OR FAIL effects SET state = 'APPLIED', applied_audit = ? WHERE id = ?
