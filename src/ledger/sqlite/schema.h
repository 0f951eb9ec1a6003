// Purpose:    makes and checks the database: version, tables, and the triggers made from the model's table of moves.
// Trust:      a database whose triggers differ from ours is kCorrupt to a writer: somebody took a guard away.
// Thread use: one thread.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ledger/sqlite/db.h"
#include "model/state.h"

namespace intray::ledger::sqlite {

inline constexpr std::int64_t kApplicationId = 0x696e7472;  // "intr"
inline constexpr std::int64_t kSchemaVersion = 2;

// The triggers that refuse every state a job may not begin in, and every move that is no edge.
std::string admission_trigger(model::JobKind kind);
std::string move_trigger(model::JobKind kind);

// Makes the tables in an empty database, in one transaction.
base::Result<void> create_schema(const Database& db, model::JobKind kind, base::WallTime now);
// Whether it is a ledger that this program can write: of its version, or of an earlier one, which upgrade_schema()
// brings up to it. kUnsupported: newer. kCorrupt: not a ledger.
base::Result<void> check_is_ledger(const Database& db);
// Of this program's version. kUnsupported: newer, or older and not brought up to date yet. kCorrupt: not a ledger.
base::Result<void> check_schema(const Database& db);
// Gives a ledger of an earlier version what later ones added, in one transaction; leaves others alone.
base::Result<void> upgrade_schema(const Database& db);
// Every trigger is there as this program makes it, and no other; else kCorrupt. For writers: a reader must be able to
// look at a ledger that somebody has tampered with.
base::Result<void> check_guards(const Database& db);
// Kind of an existing ledger.
base::Result<model::JobKind> kind_of_ledger(const Database& db);

}  // namespace intray::ledger::sqlite
