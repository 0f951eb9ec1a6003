SELECT ledger_id, ledger_epoch FROM ledger
