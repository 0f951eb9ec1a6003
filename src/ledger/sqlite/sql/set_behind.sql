UPDATE jobs SET behind = ? WHERE seq = ? AND behind = ?
