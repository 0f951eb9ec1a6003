UPDATE ledger SET epoch = epoch + 1 RETURNING epoch
