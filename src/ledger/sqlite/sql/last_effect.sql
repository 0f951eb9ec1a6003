SELECT id, repetition, state FROM effects WHERE effect_key = ? ORDER BY repetition DESC LIMIT 1
