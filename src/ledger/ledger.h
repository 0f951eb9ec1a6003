// Purpose:    the executor's memory: the interface behind which every decision that must be atomic is one call.
// Process:    one writer object per executor process; tools use reader.h.
// Trust:      the ledger believes its caller's parsed values and checks every transition, epoch and claim itself.
// Thread use: one thread.
// Durability: commit() returns after the whole batch is durable; a batch holds any mix of the three durable points of a
//             job (admitted and claimed; started with its attempt; ended), so that many jobs share one flush.
//
// No code outside ledger/ may rely on SQLite's behaviour: the same interface is meant for PostgreSQL. Times in
// decisions come from the ledger's own clock.
//
// Errors of every call: kNoSpace or kBusy: nothing was changed, try again later. kStale: this holder's epoch is over
// (or its lease is gone): stop claiming, send nothing more, exit. kIo: what is on disk is not known; the process must
// exit and recover by reopening. kCorrupt: the database breaks its own rules; do not start, say what to do.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ledger/types.h"

namespace intray::ledger {

// ---- batch: what goes in ----

// A taken file, in one of three shapes: a job whose contract holds (facts), the same refused by an admission rule
// (facts and refusal: age, mission), or a bad file (refusal only).
struct Admit {
  std::string dropped_name;  // as the requester named it, raw
  base::TakeNumber take;
  std::int64_t name_created_us = 0;  // 0 for a bad name
  std::uint32_t owner_uid = 0;
  base::WallTime taken_at;
  std::string bytes;                   // canonical bytes of a job; empty for a bad file
  std::optional<base::Sha256> sha256;  // of what was read
  std::optional<JobFacts> facts;
  std::optional<model::Reason> refusal;
  std::string detail;                         // of the refusal, escaped
  std::optional<base::JobId> trusted_job_id;  // of a bad file that is canonical JSON with a valid job_id
  bool claim_now = false;  // claim in this commit where nothing else of its object or path is waiting or running
};

// J05 together with its attempt (durable point 2).
struct Start {
  base::JobSeq seq;
  base::ClaimId claim_id;
  base::AttemptId attempt_id;
  base::Sha256 effect_key;
  base::Sha256 content_sha256;
  // A read-back after the settle time found that no earlier attempt of this job did it. Required where one may have
  // (G2): else INVALID_TRANSITION.
  bool found_absent = false;
};

// The end or the retry of a job in this worker's hands (durable point 3). From CLAIMED it passes J05 first, in the same
// commit and without an attempt row (refused by a gate, already at target, poison, source unavailable).
struct Finish {
  base::JobSeq seq;
  base::ClaimId claim_id;
  model::Event event = model::Event::kLose;  // kConfirm, kNoEffect, kDeny, kLose or kRetry
  std::optional<model::Reason> reason;
  std::optional<model::ResultWord> result;  // none for kRetry
  model::Evidence evidence;
  bool may_have_effect = false;              // after this
  bool counts_attempt = true;                // kRetry: false where nothing left the machine (no connection, no source)
  std::optional<base::WallTime> not_before;  // kRetry
  std::optional<base::WallTime> settle_until;  // the object stays locked until then
};

struct Batch {
  std::vector<Finish> finishes;
  std::vector<Start> starts;
  std::vector<Admit> admits;
  int claim_max = 0;           // waiting jobs (READY, or RETRYABLE and due) that may be claimed now, in admission order
  bool claim_suspect = false;  // claim the oldest suspect, alone (the caller holds nothing else); claim_max is then 0
  struct Note {
    std::string event;   // STRAY, …: audited, no transition of a job
    std::string detail;  // escaped
  };
  std::vector<Note> notes;
  bool expire = false;  // end READY and RETRYABLE jobs past their deadline or attempts (J04, J16, J17, J20)
  std::optional<base::AuditSeq> receipts_through;  // receipts up to here are durable in receipts/
  bool empty() const {
    return finishes.empty() && starts.empty() && admits.empty() && notes.empty() && claim_max == 0 && !claim_suspect &&
           !expire && !receipts_through;
  }
};

// ---- batch: what comes out ----

enum class Admission {
  kClaimed,    // in this worker's hands: `job`
  kReady,      // waits: move the file to cur/
  kFollowing,  // waits for its first job: move the file to cur/
  kEnded,      // refused, or a replay of a job that is final: see `ended`
  kDuplicate,  // known already: unlink the file; `ended` (From::kNowhere) is set where its receipt is to be issued
               // again
};
struct Admitted {
  Admission admission = Admission::kEnded;
  std::optional<JobRecord> job;  // kClaimed
  std::optional<Ended> ended;    // kEnded; kDuplicate of an ended job
};

struct Started {
  bool ok = false;
  int repetition = 0;  // n of the Idempotency-Key: of no request of this effect that may have left the machine
  std::optional<model::Reason>
      refused;  // STALE_EPOCH, LEASE_EXPIRED, GATE_BLOCKED, INVALID_TRANSITION; nothing may be sent.
                // The claim is gone (drop the job) or the attempt is VOID and the job RETRYABLE.
};

struct BatchResult {
  std::vector<Admitted> admitted;  // parallel to admits
  std::vector<Started> started;    // parallel to starts
  std::vector<bool> finished;      // parallel to finishes; false: the claim was gone, kept as late evidence
  std::vector<JobRecord> claimed;  // from claim_max or claim_suspect; their files are in cur/
  std::vector<Ended> ended;        // by finishes, their followers, and expiry; not those inside `admitted`
  std::optional<base::WallTime>
      next_due;  // where waiting jobs were looked at: when the earliest RETRYABLE or settling one is due
};

// What waits, for deciding whether and when to look again.
struct Waiting {
  std::int64_t ready = 0;  // READY, followers among them
  std::int64_t retryable = 0;
  std::int64_t suspects = 0;
  std::int64_t unknown = 0;                // not waiting: OUTCOME_UNKNOWN, until a person resolves them
  std::optional<base::WallTime> next_due;  // earliest not_before or settle_until
  std::optional<base::WallTime> next_deadline;
};

// What was last applied to an object or path, by audit order.
struct AppliedSave {
  std::string commit;
  base::Sha256 content_sha256;
};

// Every admission setting that is judged inside a transaction.
struct Policy {
  std::int64_t deadline_us = 86'400'000'000;  // job.deadline
  int attempts_max = 5;                       // retry.max_attempts
  int solo_deaths_max = 2;                    // poison.solo_deaths
  std::int64_t job_lease_us = 15'000'000;     // lease on a claimed job
};

struct LeaseRefusal {
  model::Reason reason = model::Reason::kLeaseHeld;
  std::optional<LeaseRow> current;
};
// An inner refusal is a decision of the ledger (audited); an outer error is a failure of it.
template <class T>
using Decision = base::Result<std::expected<T, LeaseRefusal>>;

class Ledger {
 public:
  virtual ~Ledger() = default;

  // ---- identity lease (fencing.md: acquire inserts only; takeover is a compare-and-swap on the epoch) ----
  virtual Decision<HeldLease> acquire(const Identity& identity, const base::WorkerId& connector,
                                      const std::string& scopes, base::Micros ttl) = 0;
  virtual Decision<HeldLease> takeover(const Identity& identity, base::Epoch current, const base::WorkerId& connector,
                                       const std::string& scopes, base::Micros ttl) = 0;
  virtual base::Result<std::optional<LeaseRow>> lease(const Identity& identity) = 0;
  // Renews the identity lease and the leases of every job that it holds.
  virtual Decision<HeldLease> heartbeat(const HeldLease& held, base::Micros ttl) = 0;
  virtual Decision<std::monostate> release(const HeldLease& held) = 0;
  // Whether the lease still stands right now, for the last check before bytes leave. No write.
  virtual bool still_holds(const HeldLease& held) = 0;

  // ---- recovery of what earlier holders of this binding left (J06, J07, J14; poison: J05 with J11 or J12) ----
  struct Recovered {
    std::vector<JobRecord> to_verify;  // EXECUTING under a new claim and fence: read back, never send
    std::vector<Ended> ended;          // poison
    std::int64_t back_to_waiting = 0;  // J06, J07
  };
  virtual base::Result<Recovered> recover(const HeldLease& held) = 0;

  // ---- the one write ----
  virtual base::Result<BatchResult> commit(const HeldLease& held, const Batch& batch) = 0;

  // ---- reads that decide what goes into the next batch ----
  virtual base::Result<Waiting> waiting() = 0;
  // Jobs that wait or run, whoever holds them, by the owner of their files. Costs a look at each of them and
  // at its body.
  virtual base::Result<std::vector<OwnerCount>> live_by_owner() = 0;
  // The later of what was last applied to the object and to the path. nullopt: nothing ever was.
  virtual base::Result<std::optional<AppliedSave>> last_applied(const std::string& object_id,
                                                                const std::string& vault_path) = 0;
  // The content with which this effect was applied before (then the receiver is read first). nullopt: it never was.
  virtual base::Result<std::optional<base::Sha256>> effect_applied(const base::Sha256& effect_key) = 0;
  // The job that owns a file name found in lease/ or cur/ (projection repair at start). nullopt: no such job.
  virtual base::Result<std::optional<JobRecord>> find_job(const base::JobId& job_id) = 0;
  // Ends whose receipts may be missing: audit_seq above the durable mark, in order, at most `max`.
  virtual base::Result<std::vector<Ended>> unreceipted(std::size_t max) = 0;
  // Audited events that are no transition of a job: STRAY, VANISHED counts, …
  virtual base::Result<void> note(const HeldLease& held, const std::string& event, const std::string& detail) = 0;
  virtual base::LedgerId id() const = 0;
  // The epoch of the ledger itself: 1 in a new one, raised only by a reconciliation; part of Intray-Fence.
  virtual std::int64_t ledger_epoch() const = 0;
  // The end of a job that has one (projection repair at start: where its file belongs and under which word).
  virtual base::Result<std::optional<Ended>> find_end(const base::JobId& job_id) = 0;

  // Gives up the reserve file when a commit of outcomes finds no room. False: there is none left.
  virtual bool give_up_reserve() = 0;
  // A clean stop: the next start need not look for damage, and the file alone holds everything unless somebody else is
  // at it. Nothing is closed, and nothing may be called after it; the destructor does it too. False: not done, the next
  // start will look.
  virtual bool sign_out() = 0;
  // Commits and syncs since open, for benchmarks and health.
  struct Counters {
    std::int64_t commits = 0;
    std::int64_t rows = 0;
  };
  virtual Counters counters() const = 0;
};

struct OpenOptions {
  std::string path;  // ledger.db; its directory must exist
  model::JobKind kind = model::JobKind::kSave;
  Policy policy;
  std::string boot_id;
  std::int64_t reserve_bytes = 4 * 1024 * 1024;  // "ledger.reserve" beside it; 0: none
  std::uint32_t file_mode = 0640;
  base::Micros busy_timeout = std::chrono::seconds{5};
};

// Opens, makes, checks or migrates the SQLite ledger of one executor kind. A newer version is kUnsupported; damage is
// kCorrupt; kBusy: locked past the timeout. The clock outlives the ledger.
base::Result<std::unique_ptr<Ledger>> open_sqlite(const OpenOptions& options, const base::Clock& clock);

}  // namespace intray::ledger
