UPDATE jobs SET last_audit = ? WHERE seq = ?
