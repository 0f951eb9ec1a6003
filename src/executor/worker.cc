#include "executor/worker.h"

#include "base/escape.h"
#include "base/log.h"
#include "limits.h"

namespace intray::executor {

using base::LogLevel;

namespace {

AttemptSettings attempt_settings(const config::Settings& s) {
  AttemptSettings out;
  out.settle = s.receiver.settle;
  out.verify_deadline = s.retry.verify_deadline;
  out.first_wait = s.retry.first_wait;
  out.unavailable_wait = s.retry.breaker_probe;
  return out;
}

std::set<std::uint32_t> uid_set(const std::vector<std::uint32_t>& uids) { return {uids.begin(), uids.end()}; }

void log_pressure(const Pressure::Change& change) {
  base::log(change.over ? LogLevel::kWarn : LogLevel::kInfo, change.over ? "pressure" : "pressure_over",
            {{"reason", "BACKPRESSURE"},
             {"limit", change.limit},
             {"uid", change.uid ? std::to_string(*change.uid) : "-"},
             {"count", change.count}});
}

void log_end(const model::Receipt& r) {
  const bool fine = r.state == model::State::kSucceeded;
  base::log(fine ? LogLevel::kInfo : LogLevel::kWarn, "job_ended",
            {{"job", r.job_id ? r.job_id->str() : r.file_name.value_or("-")},
             {"state", model::to_word(r.state)},
             {"result", model::to_word(r.result)},
             {"reason", r.reason ? model::to_word(*r.reason) : std::string_view("-")},
             {"attempts", r.attempts},
             {"detail", r.evidence.detail.value_or("-")}});
}

}  // namespace

Worker::Worker(WorkerParts parts)
    : p_(std::move(parts)),
      health_(p_.settings.retry.breaker_failures, p_.settings.retry.breaker_probe),
      attempts_(attempt_settings(p_.settings), p_.operation, p_.client, p_.coordinator, p_.ledger, health_, p_.loop,
                p_.clock, [] {}),
      projection_(p_.inbox, p_.slot, p_.clock),
      intake_(p_.inbox, p_.slot, base::TakeNumber{p_.lease.epoch.value * base::kTakesPerEpoch},
              uid_set(p_.settings.requester_uids)),
      backlog_count_(p_.inbox),
      pressure_({.jobs = p_.settings.limits.per_requester, .bytes = p_.settings.limits.per_requester_bytes},
                p_.settings.limits.backlog, log_pressure),
      next_take_(p_.lease.epoch.value * base::kTakesPerEpoch + base::kTakesPerEpoch / 2) {}

Worker::~Worker() = default;

Exit Worker::run(bool once) {
  once_ = once;
  last_ended_ = p_.clock.boot();
  if (auto recovered = recover(); !recovered) {
    handle_failure(recovered.error());
    return exit_.value_or(Exit::kUnusable);
  }
  p_.notifier.notify("READY=1");
  base::log(LogLevel::kInfo, "ready",
            {{"slot", p_.slot.value}, {"epoch", p_.lease.epoch.value}, {"waiting", waiting_}});
  while (!exit_) {
    turn();
    if (exit_) break;
    const bool spin = more_to_do();
    if (auto ran = p_.loop.run_once(spin ? std::optional(base::Micros{0}) : std::nullopt); !ran) {
      base::log(LogLevel::kError, "event_loop_failed", {{"error", ran.error().what}});
      leave(Exit::kUnusable);
    }
  }
  shut_down();
  return *exit_;
}

void Worker::turn() {
  const base::BootTime now = p_.clock.boot();
  probe();
  if (blocked_until_) {
    if (now < *blocked_until_) return;
    blocked_until_.reset();
  }
  gather();
  // A suspension lasts until a person acts, and --once does not wait for a receiver: nothing stays claimed for either.
  if (health_.suspended() || (once_ && !health_.may_run() && attempts_.under_way() == 0)) attempts_.give_back();
  if (auto prepared = attempts_.prepare_some(limits::kGatesPerTurn); !prepared) {
    handle_failure(prepared.error());
    return;
  }
  const CommitQuestion question = commit_question(now);
  if (commit_now(question)) {
    commit_batch();
  } else if (question.finished + question.startable + question.others > 0) {
    schedule_turn(kCommitLinger - question.since_last);
  }
  if (exit_) return;
  if (stopping_ && idle_now()) leave(Exit::kClean);
  if (stopping_ && stop_by_ && now >= *stop_by_) {
    base::log(LogLevel::kWarn, "stopped_with_work_in_hand", {{"jobs", attempts_.in_hand()}});
    leave(Exit::kClean);
  }
  const bool more_in_new = intake_.pending();
  const bool held_by_limits = space_in_cur() == 0 || pressure_.over_backlog();
  if (once_ && !stopping_ && idle_now() && !more_to_do() && link_ != Link::kDialling &&
      (!more_in_new || held_by_limits) && !due_soon())
    leave(waiting_ == 0 && unknown_ == 0 && !more_in_new ? Exit::kClean : Exit::kUnfinished);
}

// Whether time alone lets a waiting job run, soon enough for --once: a retry, or a request that may still be working.
bool Worker::due_soon() const {
  if (waiting_ == 0 || !due_at_ || !health_.may_run() || source_away_) return false;
  return p_.clock.boot() - last_ended_ + (*due_at_ - p_.clock.wall()) < limits::kOncePatience;
}

CommitQuestion Worker::commit_question(base::BootTime now) const {
  CommitQuestion q;
  q.finished = attempts_.finished();
  q.startable = std::min(attempts_.startable(), free_slots());
  q.others = batch_.admits.size() + batch_.notes.size() +
             (batch_.claim_max > 0 || batch_.claim_suspect || batch_.expire || batch_.receipts_through ? 1 : 0);
  q.starving = attempts_.startable() + attempts_.unprepared() == 0;
  q.outstanding = attempts_.outstanding();
  q.since_last = now - last_commit_;
  return q;
}

// Requests that may start once the finishes at hand are committed.
std::size_t Worker::free_slots() const {
  const auto most = static_cast<std::size_t>(p_.settings.limits.in_flight);
  const std::size_t busy = attempts_.under_way() - std::min(attempts_.under_way(), attempts_.finished());
  return most > busy ? most - busy : 0;
}

// Whether another turn would find something without waiting for an event.
bool Worker::more_to_do() const {
  if (exit_ || blocked_until_) return false;
  if (attempts_.can_prepare()) return true;
  const bool runs = !stopping_ && health_.may_run() && link_ == Link::kUp && !source_away_;
  if (suspects_to_try() && health_.may_run()) return runs && attempts_.in_hand() == 0 && !batch_.claim_suspect;
  if (intake_.pending() && !stopping_ && batch_.admits.empty() &&
      (runs ? room() > 0 : (!health_.may_run() || source_away_) && !pressure_.over_backlog()) && space_in_cur() > 0)
    return true;
  return runs && look_ && waiting_ > 0 && room() > 0;
}

bool Worker::idle_now() const {
  return attempts_.in_hand() == 0 && batch_.admits.empty() && batch_.notes.empty() && batch_.claim_max == 0 &&
         !batch_.claim_suspect;
}

std::size_t Worker::room() const {
  // As many claimed ahead as may be under way, so that their gates run while the receiver works.
  const std::size_t most = 2 * static_cast<std::size_t>(p_.settings.limits.in_flight);
  const std::size_t held = attempts_.in_hand() + batch_.admits.size();
  return most > held ? most - held : 0;
}

// Jobs that may still be admitted: any of them may have to wait.
std::int64_t Worker::space_in_cur() const { return std::max<std::int64_t>(0, p_.settings.limits.waiting - waiting_); }

// Whether a job can run now: decided before a claim, so that nothing is claimed to be put back.
bool Worker::may_claim() {
  if (stopping_ || !health_.may_run() || source_away_) return false;
  const bool fresh =
      health_.last_answer() && p_.clock.boot() - *health_.last_answer() < p_.settings.receiver.idle_reuse;
  if (attempts_.outstanding() > 0 || p_.pool.ready() > 0 || fresh) {
    link_ = Link::kUp;
    return true;
  }
  if (link_ != Link::kDialling) {
    link_ = Link::kDialling;
    p_.pool.ask(1);
  }
  return false;
}

void Worker::gather() {
  if (stopping_ || !batch_.admits.empty()) return;
  const bool something = intake_.pending() || (look_ && waiting_ > 0);
  if (!something) return;
  const bool run = may_claim();
  if (suspects_to_try() && health_.may_run()) {
    // A process died while holding these. Each runs with nothing else in hand, so that the innocent are not blamed.
    if (run && attempts_.in_hand() == 0) batch_.claim_suspect = true;
    return;
  }
  if (run && look_ && waiting_ > 0) {
    batch_.claim_max = static_cast<int>(room());
    if (batch_.claim_max > 0) look_ = false;
    return;
  }
  if (!intake_.pending()) return;
  std::size_t most = 0;
  if (run)
    most = room();
  else if ((!health_.may_run() || source_away_) && !pressure_.over_backlog())
    most = limits::kAdmitPerTurn;  // they are admitted all the same, and wait in cur/
  most = std::min(most, static_cast<std::size_t>(space_in_cur()));
  if (most == 0) return;
  auto taken = intake_.take(most, p_.clock.wall(), [this](std::uint32_t owner_uid, std::int64_t bytes) {
    return pressure_.may_take(owner_uid, bytes);
  });
  if (!taken) {
    base::log(LogLevel::kError, "inbox_not_readable", {{"error", taken.error().what}});
    blocked_until_ = p_.clock.boot() + limits::kBlockedRetry;
    schedule_turn(limits::kBlockedRetry);
    return;
  }
  for (const inbox::Stray& stray : taken->strays) {
    base::log(LogLevel::kWarn, "stray",
              {{"file", stray.dropped_name}, {"what", stray.detail}, {"uid", std::int64_t{stray.owner_uid}}});
    batch_.notes.push_back({"STRAY", "BAD_FILE_TYPE " + stray.detail + " " + base::escape(stray.dropped_name) +
                                         " uid " + std::to_string(stray.owner_uid) +
                                         (stray.removed ? " removed" : " left in place")});
  }
  for (inbox::TakenFile& file : taken->files) {
    ledger::Admit admit = to_admit(file);
    admit.claim_now = run;
    batch_.admits.push_back(std::move(admit));
    file.bytes.clear();
    batch_files_.push_back(std::move(file));
  }
}

ledger::Admit Worker::to_admit(const inbox::TakenFile& file) const {
  ledger::Admit admit;
  admit.dropped_name = file.dropped_name;
  admit.take = file.name.take;
  admit.name_created_us = file.name.job ? base::to_us(file.name.job->created) : 0;
  admit.owner_uid = file.owner_uid;
  admit.taken_at = file.taken_at;
  if (!file.bytes.empty()) admit.sha256 = base::sha256(file.bytes);
  if (file.refused) {
    admit.refusal = file.refused;
    admit.detail = file.detail;
    return admit;
  }
  auto facts = p_.operation.parse(file.bytes);
  if (!facts) {
    admit.refusal = facts.error().reason;
    admit.detail = facts.error().detail;
    admit.trusted_job_id = facts.error().job_id;
    return admit;
  }
  if (file.name.job && file.name.job->job_id != facts->job_id) {
    admit.refusal = model::Reason::kBadFileName;
    admit.detail = "the name says job " + file.name.job->job_id.str() + ", the file " + facts->job_id.str();
    return admit;
  }
  if (auto refused = p_.operation.refuse_admission(*facts, p_.clock.wall())) {
    admit.refusal = refused->reason;
    admit.detail = refused->detail;
  }
  admit.bytes = file.bytes;
  admit.facts = std::move(*facts);
  return admit;
}

// One state of the mirror for the whole batch. Where it is away, jobs wait, and the timer looks again.
void Worker::refresh_source() {
  const auto refreshed = p_.operation.refresh();
  if (source_away_ != !refreshed)
    base::log(LogLevel::kWarn, refreshed ? "source_back" : "source_away",
              {{"detail", refreshed ? "" : refreshed.error().detail}});
  if (source_away_ && refreshed) look_again();
  source_away_ = !refreshed;
  if (source_away_ && source_timer_ == 0 && !stopping_)
    source_timer_ = p_.loop.after(p_.settings.retry.breaker_probe, [this] {
      source_timer_ = 0;
      refresh_source();
    });
}

void Worker::commit_batch() {
  refresh_source();
  const bool run = may_claim();
  if (!run) {
    for (ledger::Admit& admit : batch_.admits) admit.claim_now = false;
    look_ = look_ || batch_.claim_max > 0;
    batch_.claim_max = 0;
    batch_.claim_suspect = false;
  }
  attempts_.collect(batch_, free_slots(), health_.may_run() && !source_away_ && !stopping_);
  if (batch_.empty()) return;

  auto result = p_.ledger.commit(p_.lease, batch_);
  last_commit_ = p_.clock.boot();
  if (!result) {
    const bool outcomes = !batch_.finishes.empty();
    attempts_.not_committed(batch_);
    batch_.starts.clear();
    batch_.finishes.clear();
    if (result.error().code == base::ErrorCode::kNoSpace && outcomes && p_.ledger.give_up_reserve()) {
      base::log(LogLevel::kError, "reserve_given_up", {{"error", result.error().what}});
      return;  // the next turn tries again
    }
    handle_failure(result.error());
    return;
  }
  Committed done{std::exchange(batch_, {}), std::exchange(batch_files_, {}), std::move(*result), {}};
  apply(done);
}

void Worker::apply(Committed& done) {
  attempts_.committed(done.batch, done.result);  // requests leave first: the receiver works while files are moved
  for (ledger::JobRecord& job : done.result.claimed) {
    --waiting_;
    if (job.suspect && suspects_ > 0) --suspects_;
    std::string name = projection_.claim_from_cur(job, base::TakeNumber{next_take_++});
    attempts_.add(std::move(job), std::move(name));
  }
  if (done.batch.claim_suspect && done.result.claimed.empty()) look_suspects_ = false;  // none is due
  apply_admitted(done);
  for (const ledger::Ended& ended : done.result.ended) {
    if (ended.from == ledger::Ended::From::kCur) --waiting_;
    pressure_.remove(ended.owner_uid, ended.job_bytes);
    apply_ended(done, ended, attempts_.release(ended.seq));
  }
  for (std::size_t i = 0; i < done.batch.finishes.size(); ++i) {
    if (!done.result.finished[i]) continue;
    const std::string name = attempts_.release(done.batch.finishes[i].seq);
    if (name.empty()) continue;  // it ended
    projection_.to_cur(name);    // it is RETRYABLE
    ++waiting_;
    schedule_due(done.batch.finishes[i].not_before);
  }
  if (pressure_.room_again()) intake_.rescan();
  if (!done.batch.finishes.empty() && waiting_ > 0) {  // an object may have become free
    look_ = true;
    look_suspects_ = look_suspects_ || attempts_.in_hand() == 0;
  }
  schedule_due(done.result.next_due);
  projection_.issue(done.receipts);
  if (projection_.receipts_pending() && receipt_timer_ == 0)
    receipt_timer_ = p_.loop.after(limits::kReceiptSyncInterval, [this] {
      receipt_timer_ = 0;
      settle_receipts();
    });
}

void Worker::apply_admitted(Committed& done) {
  for (std::size_t i = 0; i < done.result.admitted.size(); ++i) {
    ledger::Admitted& admitted = done.result.admitted[i];
    const inbox::TakenFile& file = done.files[i];
    const std::string name = file.name.str();
    const bool lives =
        admitted.admission != ledger::Admission::kEnded && admitted.admission != ledger::Admission::kDuplicate;
    const auto bytes = static_cast<std::int64_t>(done.batch.admits[i].bytes.size());
    if (lives)
      pressure_.resize(file.owner_uid, file.counted_bytes, bytes);
    else
      pressure_.remove(file.owner_uid, file.counted_bytes);
    switch (admitted.admission) {
      case ledger::Admission::kClaimed: attempts_.add(std::move(*admitted.job), name); break;
      case ledger::Admission::kReady:
      case ledger::Admission::kFollowing:
        ++waiting_;
        projection_.to_cur(name);
        break;
      case ledger::Admission::kDuplicate:
        projection_.drop(name);
        if (admitted.ended) done.receipts.push_back(admitted.ended->receipt);
        break;
      case ledger::Admission::kEnded:
        if (done.batch.admits[i].facts) {
          apply_ended(done, *admitted.ended, name);
        } else {
          projection_.to_rejected(file.name, file.taken_at, *done.batch.admits[i].refusal);
          log_end(admitted.ended->receipt);
          done.receipts.push_back(admitted.ended->receipt);
        }
        break;
    }
  }
}

void Worker::apply_ended(Committed& done, const ledger::Ended& ended, const std::string& lease_name) {
  projection_.to_final(ended, lease_name);
  log_end(ended.receipt);
  ++ended_;
  last_ended_ = p_.clock.boot();
  if (ended.receipt.state == model::State::kUnknown) ++unknown_;
  done.receipts.push_back(ended.receipt);
}

void Worker::settle_receipts() {
  auto mark = projection_.sync_receipts();
  if (!mark) {
    base::log(LogLevel::kError, "receipts_not_durable", {{"error", mark.error().what}});
    receipt_timer_ = p_.loop.after(limits::kReceiptSyncInterval, [this] {
      receipt_timer_ = 0;
      settle_receipts();
    });
    return;
  }
  if (*mark) batch_.receipts_through = **mark;  // rides on the next commit
}

// Said in the log where it goes beyond the limit and where it comes back, not at each count.
void Worker::count_backlog() {
  backlog_timer_ = 0;
  if (stopping_ || exit_) return;
  const std::int64_t enough = pressure_.backlog_limit() - waiting_ + 1;
  auto counted = backlog_count_.step(limits::kBacklogNamesPerStep, enough);
  if (!counted) {
    base::log(LogLevel::kWarn, "backlog_not_counted", {{"error", counted.error().what}});
  } else if (*counted) {
    pressure_.set_backlog(**counted, waiting_);
  } else {
    backlog_timer_ = p_.loop.after(limits::kBacklogStep, [this] { count_backlog(); });
  }
}

// A file made in new/ itself, against the protocol, may still be being written, and nothing tells when it is done: the
// end of a writing may be followed by another. So it gets a moment, and is then judged as it is.
void Worker::look_later(std::string name) {
  if (created_.size() >= limits::kPendingNamesMax) return;  // the slow scan finds the rest
  created_.push_back({std::move(name), p_.clock.boot() + limits::kPlainCreateWait});
  if (created_timer_ != 0) return;
  created_timer_ = p_.loop.after(limits::kPlainCreateWait, [this] { look_at_created(); });
}

void Worker::look_at_created() {
  created_timer_ = 0;
  const base::BootTime now = p_.clock.boot();
  std::vector<std::string> names;
  while (!created_.empty() && created_.front().look_at <= now) {
    names.push_back(std::move(created_.front().name));
    created_.pop_front();
  }
  intake_.note(std::move(names));
  if (!created_.empty()) created_timer_ = p_.loop.after(created_.front().look_at - now, [this] { look_at_created(); });
}

bool Worker::handle_failure(const base::Error& error) {
  using base::ErrorCode;
  base::log(LogLevel::kError, "ledger_failed", {{"code", base::to_word(error.code)}, {"error", error.what}});
  switch (error.code) {
    case ErrorCode::kStale: leave(Exit::kEpochLost); return false;
    case ErrorCode::kNoSpace:
    case ErrorCode::kBusy:
      blocked_until_ = p_.clock.boot() + limits::kBlockedRetry;
      schedule_turn(limits::kBlockedRetry);
      return true;
    default: leave(Exit::kUnusable); return false;  // what is on disk is not known: recover by reopening
  }
}

}  // namespace intray::executor
