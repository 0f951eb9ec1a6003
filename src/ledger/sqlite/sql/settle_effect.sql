UPDATE effects SET state = ? WHERE id = ? AND state <> 'APPLIED'
