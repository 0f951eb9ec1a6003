SELECT seq FROM jobs WHERE idempotency_key = ? ORDER BY seq LIMIT 1
