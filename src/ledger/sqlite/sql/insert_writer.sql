INSERT INTO writers (boot_id, pid, start_ticks, opened_at) VALUES (?, ?, ?, ?) RETURNING id
