#include "ledger/sqlite/store.h"

#include "ledger/sqlite/admission.h"
#include "ledger/sqlite/claims.h"
#include "ledger/sqlite/outcomes.h"
#include "ledger/sqlite/receipts.h"
#include "ledger/sqlite/recovery.h"
#include "limits.h"

namespace intray::ledger::sqlite {
namespace {

base::Result<void> add_note(Work& work, const Batch::Note& note) {
  AuditRow row;
  row.at = work.now;
  row.event = note.event;
  row.job_type = model::job_type_of(work.kind);
  row.worker_id = work.held.connector_id;
  row.epoch = work.held.epoch;
  row.detail = note.detail;
  return append(work.sql.insert_audit, work.audit, row, std::nullopt);
}

// The order matters: what ends frees objects and paths for what is admitted and claimed.
base::Result<BatchResult> run(Work& work, const Batch& batch) {
  BatchResult result;
  for (const Finish& one : batch.finishes) result.finished.push_back(INTRAY_TRY(finish(work, one, result.ended)));
  for (const Start& one : batch.starts) result.started.push_back(INTRAY_TRY(start(work, one, result.ended)));
  if (batch.expire) INTRAY_TRY(expire(work, result.ended));
  const bool may_claim = !work.lease_expired;
  if (batch.claim_max > 0 && may_claim) {
    result.claimed = INTRAY_TRY(claim_waiting(work, batch.claim_max, result.ended));
  } else if (batch.claim_suspect && may_claim) {
    result.claimed = INTRAY_TRY(claim_suspect(work, result.ended));
  }
  for (const Admit& one : batch.admits) result.admitted.push_back(INTRAY_TRY(admit(work, one)));
  for (const Batch::Note& note : batch.notes) INTRAY_TRY(add_note(work, note));
  if (batch.claim_max > 0 || batch.claim_suspect) result.next_due = INTRAY_TRY(next_due(work.sql, work.now));
  if (batch.receipts_through) {
    Use use(work.sql.set_receipts_through);
    INTRAY_TRY(use.bind(work.held.identity.binding).bind(*batch.receipts_through).change());
  }
  return result;
}

base::Result<void> read_counters(Work& work) {
  {
    Use use(work.sql.lock_ledger);
    if (!INTRAY_TRY(use.next())) return base::fail(base::ErrorCode::kCorrupt, "ledger: its one row is missing");
    work.fence = use.integer();
    work.gate_open = use.text() == "OPEN";
    INTRAY_TRY(use.intact());
  }
  work.audit = INTRAY_TRY(read_head(work.sql.audit_head));
  Use use(work.sql.last_job);
  if (INTRAY_TRY(use.next())) work.last_job = use.integer();
  return {};
}

}  // namespace

base::Error Store::seen(base::Error error) {
  if (error.code == base::ErrorCode::kIo) broken_ = true;
  return error;
}

base::Result<void> Store::begin_use() {
  if (!broken_) return {};
  return base::fail(base::ErrorCode::kIo, db_.path() + ": a write failed earlier; reopen to learn what is on disk");
}

base::Result<void> Store::commit_counted(Transaction& transaction) {
  INTRAY_TRY(transaction.commit());
  ++commits_;
  return {};
}

template <class T>
base::Result<T> Store::in_transaction(const HeldLease& held, const std::function<base::Result<T>(Work&)>& body,
                                      const Batch* evidence_of) {
  const auto attempt = [&]() -> base::Result<T> {
    INTRAY_TRY(begin_use());
    Transaction transaction = INTRAY_TRY(Transaction::begin(db_));
    Work work{.sql = *sql_, .policy = options_.policy, .kind = options_.kind, .now = clock_.wall(), .held = held};
    INTRAY_TRY(read_counters(work));
    const auto lease = INTRAY_TRY(read_lease(*sql_, held.identity));
    if (!lease || !is_same_holding(*lease, held)) {
      if (evidence_of != nullptr && !evidence_of->finishes.empty()) {
        for (const Finish& finish : evidence_of->finishes) INTRAY_TRY(keep_late_evidence(work, finish));
        INTRAY_TRY(commit_counted(transaction));
      }
      return base::fail(base::ErrorCode::kStale,
                        "lease " + held.identity.binding + ": epoch " + std::to_string(held.epoch.value) + " is over");
    }
    work.lease_expired = is_expired(*lease, clock_.boot(), options_.boot_id);
    const std::int64_t fence_before = work.fence;
    T value = INTRAY_TRY(body(work));
    if (work.fence != fence_before) {
      Use use(sql_->draw_fences);
      INTRAY_TRY(use.bind(work.fence).bind(fence_before).swap());
    }
    INTRAY_TRY(commit_counted(transaction));
    return value;
  };
  auto result = attempt();
  if (!result) return std::unexpected(seen(std::move(result).error()));
  return result;
}

template <class D>
base::Result<D> Store::lease_transaction(const Identity& identity, base::Micros ttl,
                                         const std::function<base::Result<D>(LeaseWork&)>& body) {
  if (identity.agent != model::to_word(options_.kind)) {
    return base::fail(base::ErrorCode::kInvalid,
                      "lease: this ledger serves the agent " + std::string(model::to_word(options_.kind)));
  }
  if (ttl <= base::Micros{0} || ttl > base::Micros{limits::kLeaseMax_us}) {
    return base::fail(base::ErrorCode::kInvalid, "lease: the time to live must be above 0 and at most 5 minutes");
  }
  const auto attempt = [&]() -> base::Result<D> {
    INTRAY_TRY(begin_use());
    Transaction transaction = INTRAY_TRY(Transaction::begin(db_));
    ChainHead head = INTRAY_TRY(read_head(sql_->lease_audit_head));
    LeaseWork work{*sql_, clock_.wall(), clock_.boot(), options_.boot_id, head};
    D decision = INTRAY_TRY(body(work));
    INTRAY_TRY(commit_counted(transaction));
    return decision;
  };
  auto result = attempt();
  if (!result) return std::unexpected(seen(std::move(result).error()));
  return result;
}

Decision<HeldLease> Store::acquire(const Identity& identity, const base::WorkerId& connector, const std::string& scopes,
                                   base::Micros ttl) {
  auto decision = lease_transaction<LeaseDecision>(
      identity, ttl, [&](LeaseWork& work) { return sqlite::acquire(work, identity, connector, scopes, ttl); });
  if (decision && *decision) binding_ = identity.binding;
  return decision;
}

Decision<HeldLease> Store::takeover(const Identity& identity, base::Epoch current, const base::WorkerId& connector,
                                    const std::string& scopes, base::Micros ttl) {
  auto decision = lease_transaction<LeaseDecision>(
      identity, ttl, [&](LeaseWork& work) { return take_over(work, identity, current, connector, scopes, ttl); });
  if (decision && *decision) binding_ = identity.binding;
  return decision;
}

base::Result<std::optional<LeaseRow>> Store::lease(const Identity& identity) {
  INTRAY_TRY(begin_use());
  return read_lease(*sql_, identity);
}

Decision<HeldLease> Store::heartbeat(const HeldLease& held, base::Micros ttl) {
  return lease_transaction<LeaseDecision>(held.identity, ttl,
                                          [&](LeaseWork& work) { return sqlite::heartbeat(work, held, ttl); });
}

Decision<std::monostate> Store::release(const HeldLease& held) {
  return lease_transaction<std::expected<std::monostate, LeaseRefusal>>(
      held.identity, base::Micros{1}, [&](LeaseWork& work) { return sqlite::release(work, held); });
}

bool Store::still_holds(const HeldLease& held) {
  if (broken_) return false;
  Use use(sql_->still_holds);
  use.bind(held.identity.tenant).bind(held.identity.agent).bind(held.identity.binding).bind(held.lease_id);
  const auto row = use.bind(held.connector_id).bind(held.epoch).bind(options_.boot_id).next();
  return row && *row && clock_.boot() < base::BootTime{base::Micros{use.integer()}} && use.intact();
}

base::Result<Ledger::Recovered> Store::recover(const HeldLease& held) {
  return in_transaction<Recovered>(held, [](Work& work) { return sqlite::recover(work); });
}

base::Result<BatchResult> Store::commit(const HeldLease& held, const Batch& batch) {
  if (batch.empty()) return BatchResult{};
  return in_transaction<BatchResult>(
      held, [&](Work& work) { return run(work, batch); }, &batch);
}

base::Result<Waiting> Store::waiting() {
  INTRAY_TRY(begin_use());
  const Transaction snapshot = INTRAY_TRY(Transaction::begin_read(db_));
  Waiting waiting;
  const auto count = [](Statement& statement) -> base::Result<std::int64_t> {
    Use use(statement);
    INTRAY_TRY(use.next());
    return use.integer();
  };
  waiting.ready = INTRAY_TRY(count(sql_->count_ready));
  waiting.retryable = INTRAY_TRY(count(sql_->count_retryable));
  waiting.suspects = INTRAY_TRY(count(sql_->count_suspects));
  waiting.unknown = INTRAY_TRY(count(sql_->count_unknown));
  waiting.next_due = INTRAY_TRY(next_due(*sql_, clock_.wall()));
  Use use(sql_->next_deadline);
  if (INTRAY_TRY(use.next())) waiting.next_deadline = use.time();
  return waiting;
}

base::Result<std::vector<OwnerCount>> Store::live_by_owner() {
  INTRAY_TRY(begin_use());
  std::vector<OwnerCount> counts;
  Use use(sql_->live_by_owner);
  while (INTRAY_TRY(use.next())) {
    const auto owner_uid = static_cast<std::uint32_t>(use.integer());
    const std::int64_t jobs = use.integer();
    counts.push_back({.owner_uid = owner_uid, .jobs = jobs, .bytes = use.integer()});
  }
  INTRAY_TRY(use.intact());
  return counts;
}

// Two plain look-ups: as one statement they would need a temporary table to sort two rows. The first is still at its
// row while the second runs, so both see one snapshot, and the file is locked once.
base::Result<std::optional<AppliedSave>> Store::last_applied(const std::string& object_id,
                                                             const std::string& vault_path) {
  INTRAY_TRY(begin_use());
  std::optional<AppliedSave> last;
  base::AuditSeq applied_at;
  const auto look = [&](Use& use) -> base::Result<void> {
    if (!INTRAY_TRY(use.next())) return {};
    const auto at = use.number<base::AuditSeq>();
    if (last && at <= applied_at) return {};
    applied_at = at;
    last.emplace();
    last->commit = use.text();
    last->content_sha256 = use.hash();
    return use.intact();
  };
  Use of_object(sql_->last_applied_object);
  INTRAY_TRY(look(of_object.bind(object_id)));
  Use of_path(sql_->last_applied_path);
  INTRAY_TRY(look(of_path.bind(vault_path)));
  return last;
}

base::Result<std::optional<base::Sha256>> Store::effect_applied(const base::Sha256& effect_key) {
  INTRAY_TRY(begin_use());
  Use use(sql_->effect_applied);
  if (!INTRAY_TRY(use.bind(effect_key).next())) return std::nullopt;
  const base::Sha256 content = use.hash();
  INTRAY_TRY(use.intact());
  return content;
}

base::Result<std::optional<JobRecord>> Store::find_job(const base::JobId& job_id) {
  INTRAY_TRY(begin_use());
  Use use(sql_->find_job);
  if (!INTRAY_TRY(use.bind(job_id).next())) return std::nullopt;
  const Job job = read_job(use, options_.kind);
  INTRAY_TRY(use.intact());
  return std::optional<JobRecord>(job);
}

base::Result<std::optional<Ended>> Store::find_end(const base::JobId& job_id) {
  INTRAY_TRY(begin_use());
  std::optional<Job> job;
  {
    Use use(sql_->find_job);
    if (!INTRAY_TRY(use.bind(job_id).next())) return std::nullopt;
    job = read_job(use, options_.kind);
    INTRAY_TRY(use.intact());
  }
  if (!job->end_audit) return std::nullopt;
  return INTRAY_TRY(ended_again(*sql_, *job, Ended::From::kNowhere));
}

base::Result<std::vector<Ended>> Store::unreceipted(std::size_t max) {
  INTRAY_TRY(begin_use());
  if (binding_.empty()) return base::fail(base::ErrorCode::kInvalid, "receipts are issued by the holder of a lease");
  const Transaction snapshot = INTRAY_TRY(Transaction::begin_read(db_));
  return ends_without_receipt(*sql_, options_.kind, binding_, max);
}

base::Result<void> Store::note(const HeldLease& held, const std::string& event, const std::string& detail) {
  const auto added = in_transaction<std::monostate>(held, [&](Work& work) -> base::Result<std::monostate> {
    INTRAY_TRY(add_note(work, {event, detail}));
    return std::monostate{};
  });
  if (!added) return std::unexpected(added.error());
  return {};
}

Ledger::Counters Store::counters() const { return {.commits = commits_, .rows = db_.rows_changed()}; }

}  // namespace intray::ledger::sqlite
