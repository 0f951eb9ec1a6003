UPDATE ledger SET fence = ? WHERE fence = ?
