INSERT INTO ledger (one, ledger_id, kind, created_at, gate, ledger_epoch, epoch, fence)
VALUES (1, ?, ?, ?, 'OPEN', 1, 0, 0)
