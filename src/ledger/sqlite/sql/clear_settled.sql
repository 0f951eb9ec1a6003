UPDATE jobs SET settle_until = NULL WHERE settle_until <= ?
