DELETE FROM writers WHERE id = ?
