// Purpose:    identity leases as rows: acquire, takeover, heartbeat, release, each one compare-and-swap, each audited.
// Trust:      who may ask is the policy's business (lease/); here epochs decide and time only makes a takeover
// possible. Thread use: one thread. Durability: part of the caller's transaction.
//
// Expiry is judged by CLOCK_BOOTTIME under the boot id that the row was written in. A row of another boot of this host
// is expired: its holder did not live through it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "ledger/ledger.h"
#include "ledger/sqlite/audit.h"
#include "sql.h"  // made by embed_sql

namespace intray::ledger::sqlite {

// What a decision on a lease is made with.
struct LeaseWork {
  Statements& sql;
  base::WallTime now;
  base::BootTime boot_now;
  const std::string& boot_id;
  ChainHead& audit;
};

using LeaseDecision = std::expected<HeldLease, LeaseRefusal>;

base::Result<std::optional<LeaseRow>> read_lease(Statements& sql, const Identity& identity);
bool is_expired(const LeaseRow& row, base::BootTime boot_now, const std::string& boot_id);
// Whether the row is this holding, not released. Says nothing of its expiry.
bool is_same_holding(const LeaseRow& row, const HeldLease& held);

base::Result<LeaseDecision> acquire(LeaseWork& work, const Identity& identity, const base::WorkerId& connector,
                                    const std::string& scopes, base::Micros ttl);
base::Result<LeaseDecision> take_over(LeaseWork& work, const Identity& identity, base::Epoch current,
                                      const base::WorkerId& connector, const std::string& scopes, base::Micros ttl);
base::Result<LeaseDecision> heartbeat(LeaseWork& work, const HeldLease& held, base::Micros ttl);
base::Result<std::expected<std::monostate, LeaseRefusal>> release(LeaseWork& work, const HeldLease& held);

// A row of `leases` where the first three columns were read already.
LeaseRow read_lease_columns(Use& use, Identity identity);

}  // namespace intray::ledger::sqlite
