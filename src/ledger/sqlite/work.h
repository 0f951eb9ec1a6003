// Purpose:    one write transaction of the ledger as its parts share it: the clock's reading, the holder, the ends of
//             both audit chains, the fences drawn, and the prepared statements.
// Trust:      made only by Store (store.h), inside BEGIN IMMEDIATE; everything read through it stays true until COMMIT.
// Thread use: one thread.
#pragma once

#include <optional>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/sqlite/audit.h"
#include "ledger/sqlite/db.h"
#include "sql.h"  // made by embed_sql

namespace intray::ledger::sqlite {

// A job's row with what only the ledger looks at.
struct Job : JobRecord {
  base::TakeNumber take;
  std::int64_t revision = 1;
  base::WallTime state_since;
  std::optional<base::JobSeq> behind;
  bool solo = false;
  std::optional<std::string> binding;
  std::optional<base::WorkerId> worker_id;
  base::Epoch epoch;
  int attempts = 0;
  std::optional<std::int64_t> effect;
  int repetition = 0;
  std::optional<base::WallTime> settle_until;
  std::optional<model::Reason> reason;
  std::optional<model::ResultWord> result;
  std::optional<base::WallTime> finished_at;
  model::Evidence evidence;
  base::AuditSeq last_audit;
  std::optional<base::AuditSeq> end_audit;
};

// An object and path that stay locked although their job no longer runs.
struct Settling {
  base::JobSeq seq;
  std::string object_id;
  std::string vault_path;
  base::WallTime until;
};

struct Work {
  Statements& sql;
  const Policy& policy;
  model::JobKind kind;
  base::WallTime now;
  const HeldLease& held;
  bool lease_expired = false;
  bool gate_open = true;
  ChainHead audit{};
  std::int64_t fence = 0;                           // last one drawn
  std::optional<std::vector<Settling>> settling{};  // read when first asked for

  std::int64_t last_job = 0;

  base::Fence draw_fence() { return base::Fence{++fence}; }
  base::JobSeq next_job() { return base::JobSeq{++last_job}; }
};

// The row at which `use` stands: columns in the order of sql/load_job.sql.
Job read_job(Use& use, model::JobKind kind);
base::Result<std::optional<Job>> load_job(Statements& sql, model::JobKind kind, base::JobSeq seq);
inline base::Result<std::optional<Job>> load_job(Work& work, base::JobSeq seq) {
  return load_job(work.sql, work.kind, seq);
}

// An audit row of `job` by the holder: its members, kind, claim, epoch and fence filled in.
AuditRow row_of(const Work& work, const Job& job, std::string_view event);
// The same for a move: from, to, and the row of the table.
AuditRow move_of(const Work& work, const Job& job, std::string_view event, const model::Edge& edge);
// Appends and returns the row's hash; job.last_audit follows.
base::Result<base::Sha256> record(Work& work, Job& job, AuditRow& row);

// The edge that allows the move, judged with the job's own facts; nullptr: INVALID_TRANSITION.
const model::Edge* edge_for(const Work& work, const Job& job, model::Event event, model::State to);
// Audits a refused move. Nothing else changes.
base::Result<void> record_refusal(Work& work, Job& job, model::State to);

// The audit row of an end, as a receipt names it.
struct EndMark {
  base::Sha256 hash;
  base::Epoch epoch;
  base::WorkerId worker_id;
};
// What the receipt of an ended job says: the same now and whenever it is issued again.
Ended ended_of(const Job& job, const EndMark& mark, Ended::From from);
// The same of a job that ended earlier.
base::Result<Ended> ended_again(Statements& sql, const Job& job, Ended::From from);

}  // namespace intray::ledger::sqlite
