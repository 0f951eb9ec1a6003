SELECT id, boot_id, pid, start_ticks FROM writers
