SELECT kind FROM ledger
