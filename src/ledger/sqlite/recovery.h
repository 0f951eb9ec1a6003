// Purpose:    what earlier holders of a slot left in their hands (J06, J07, J08, J12, J14), and poison.
// Trust:      the caller holds the slot's flock and its lease: the holders are dead.
// Thread use: one thread.
// Durability: part of the caller's transaction.
#pragma once

#include "base/result.h"
#include "ledger/ledger.h"
#include "ledger/sqlite/work.h"

namespace intray::ledger::sqlite {

base::Result<Ledger::Recovered> recover(Work& work);

}  // namespace intray::ledger::sqlite
