INSERT INTO receipts (binding, through) VALUES (?, ?)
ON CONFLICT (binding) DO UPDATE SET through = max(through, excluded.through)
