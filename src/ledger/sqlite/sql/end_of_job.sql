SELECT hash, epoch, worker_id FROM audit WHERE seq = ?
