UPDATE jobs SET lease_until = ? WHERE binding = ? AND epoch = ?
