// Purpose:    which receipts a slot may still owe, rebuilt from the ledger: the same lines as when they were first due.
// Thread use: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ledger/sqlite/work.h"

namespace intray::ledger::sqlite {

// Ends (and duplicates of ended jobs) audited by holders of this binding after the durable mark, in order, at most
// `max`.
base::Result<std::vector<Ended>> ends_without_receipt(Statements& sql, model::JobKind kind, const std::string& binding,
                                                      std::size_t max);

}  // namespace intray::ledger::sqlite
