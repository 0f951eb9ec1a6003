// Purpose:    who may run next: the order of jobs for one object or path, and the claim itself (J03, J15).
// Trust:      judged inside the transaction that claims; admission order within an object and within a path is kept.
// Thread use: one thread.
//
// A job occupies its object and its path from admission until it ends (a DELETE in OUTCOME_UNKNOWN still does). Each
// waiting job names the latest earlier occupant that it is `behind`; only a job behind nobody can be claimed, so
// finding the next ones costs the same however many wait. A settle time locks an object and path whatever its job's
// state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ledger/sqlite/work.h"

namespace intray::ledger::sqlite {

// The latest job before `seq` that occupies the object or the path.
base::Result<std::optional<base::JobSeq>> occupant_before(Work& work, const std::string& object_id,
                                                          const std::string& vault_path, base::JobSeq seq);
// Whether another job's settle time still locks the object or the path.
base::Result<bool> is_settling(Work& work, const std::string& object_id, const std::string& vault_path,
                               base::JobSeq seq);
// `seq` no longer occupies its object and path: those behind it get in line anew.
base::Result<void> leave_lanes(Work& work, base::JobSeq seq);

// Claims a job that is READY or RETRYABLE, under a new claim id and fence.
base::Result<void> claim(Work& work, Job& job, bool solo);
// Up to `max` jobs that can run now, in admission order. Those whose time or attempts are used up end instead.
base::Result<std::vector<JobRecord>> claim_waiting(Work& work, int max, std::vector<Ended>& ended);
// The oldest suspect that can run now, alone.
base::Result<std::vector<JobRecord>> claim_suspect(Work& work, std::vector<Ended>& ended);

// When the next RETRYABLE job is due or the next settle time is over, whichever is first and still ahead.
base::Result<std::optional<base::WallTime>> next_due(Statements& sql, base::WallTime now);

}  // namespace intray::ledger::sqlite
