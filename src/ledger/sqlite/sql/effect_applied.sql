SELECT content_sha256 FROM effects WHERE effect_key = ? AND state = 'APPLIED' ORDER BY repetition DESC LIMIT 1
