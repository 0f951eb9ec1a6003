SELECT fence, gate FROM ledger
