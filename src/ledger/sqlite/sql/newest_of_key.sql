SELECT seq, coalesce(follows, seq) FROM jobs WHERE idempotency_key = ? ORDER BY seq DESC LIMIT 1
