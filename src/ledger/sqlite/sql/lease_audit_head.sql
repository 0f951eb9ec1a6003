SELECT seq, hash FROM lease_audit ORDER BY seq DESC LIMIT 1
