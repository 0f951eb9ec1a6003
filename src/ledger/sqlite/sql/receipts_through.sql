SELECT coalesce((SELECT through FROM receipts WHERE binding = ?), 0)
