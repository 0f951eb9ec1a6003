#include "executor/attempts.h"

#include <fmt/format.h>

#include <cassert>

#include "base/log.h"
#include "base/random.h"
#include "executor/backoff.h"
#include "limits.h"

namespace intray::executor {

using base::LogLevel;
using model::Event;
using model::Reason;
using model::ResultWord;

enum class Phase {
  kClaimed,
  kReadingFirst,
  kReadingEffect,
  kStartable,
  kStarting,
  kSending,
  kVerifying,
  kFinished,
  kFinishing
};

struct Attempts::Job {
  ledger::JobRecord record;
  std::string lease_name;
  Phase phase = Phase::kClaimed;
  std::unique_ptr<Prepared> prepared;
  base::AttemptId attempt;
  bool found_absent = false;               // by a read-back: no earlier attempt did it
  bool taken_over = false;                 // EXECUTING when its worker died: read back only
  const model::OutcomeRow* row = nullptr;  // of the answer
  model::Answer answer;
  std::optional<base::Micros> retry_after;
  base::BootTime settled_at{};  // OTHER proves something from then on
  base::BootTime verify_until{};
  int reads = 0;
  bool counts = false;  // among under_way_
  sys::EventLoop::TimerId timer = 0;
  ledger::Finish change;  // phase kFinished

  const base::Sha256& expected() const { return prepared ? prepared->content_sha256 : *record.content_sha256; }
};

Attempts::Attempts(const AttemptSettings& settings, Operation& operation, receiver::Client& client,
                   lease::Coordinator& coordinator, ledger::Ledger& ledger, ReceiverHealth& health,
                   sys::EventLoop& loop, const base::Clock& clock, std::function<void()> wake)
    : settings_(settings),
      operation_(operation),
      client_(client),
      coordinator_(coordinator),
      ledger_(ledger),
      health_(health),
      loop_(loop),
      clock_(clock),
      wake_(std::move(wake)) {}

Attempts::~Attempts() = default;

Attempts::Job* Attempts::find(Seq seq) {
  const auto it = jobs_.find(seq);
  return it == jobs_.end() ? nullptr : it->second.get();
}

void Attempts::add(ledger::JobRecord job, std::string lease_name) {
  const Seq seq = job.seq.value;
  probe_path_ = job.facts.vault_path;
  auto made = std::make_unique<Job>();
  made->record = std::move(job);
  made->lease_name = std::move(lease_name);
  Job& added = *(jobs_[seq] = std::move(made));
  if (added.record.may_have_effect && added.record.content_sha256) {
    // Step 3: an earlier attempt may have done it already; look before anything else.
    added.phase = Phase::kReadingFirst;
    read_target(added, [this](Job& j, const receiver::ReadResult& r) { after_first_read(j, r); });
    return;
  }
  claimed_.push_back(seq);
}

void Attempts::add_for_read_back(ledger::JobRecord job, std::string lease_name) {
  const Seq seq = job.seq.value;
  auto made = std::make_unique<Job>();
  made->record = std::move(job);
  made->lease_name = std::move(lease_name);
  made->taken_over = true;
  made->phase = Phase::kVerifying;
  made->counts = true;
  // When the dead worker's request left is not known: its settle time is counted from now.
  made->settled_at = clock_.boot() + settings_.settle;
  made->verify_until = clock_.boot() + std::max(settings_.verify_deadline, settings_.settle);
  ++under_way_;
  Job& added = *(jobs_[seq] = std::move(made));
  verify(added);
}

bool Attempts::can_prepare() const { return !claimed_.empty() && held_bytes_ < limits::kPreparedBytesMax; }

base::Result<void> Attempts::prepare_some(std::size_t max) {
  while (max > 0 && can_prepare()) {
    Job* job = find(claimed_.front());
    claimed_.pop_front();
    if (job == nullptr) continue;
    --max;
    auto answer = operation_.prepare(job->record);
    if (!answer) return std::unexpected(answer.error());
    if (!*answer) {
      finish_refused(*job, answer->error());
      continue;
    }
    job->prepared = std::move(**answer);
    held_bytes_ += job->prepared->held_bytes;
    if (job->prepared->read_first) {
      job->phase = Phase::kReadingEffect;
      read_target(*job, [this](Job& j, const receiver::ReadResult& r) { after_effect_read(j, r); });
    } else {
      job->phase = Phase::kStartable;
      startable_.push_back(job->record.seq.value);
    }
  }
  return {};
}

// ---- reads ----

void Attempts::read_target(Job& job, std::function<void(Job&, const receiver::ReadResult&)> then) {
  ++outstanding_;
  ++job.reads;
  client_.read(job.record.facts.vault_path,
               [this, seq = job.record.seq.value, then = std::move(then)](const receiver::ReadResult& result) {
                 --outstanding_;
                 note_transport(result.answer);
                 if (Job* found = find(seq)) then(*found, result);
                 wake_();
               });
}

void Attempts::after_first_read(Job& job, const receiver::ReadResult& read) {
  ledger::Finish change = change_for(job);
  if (read.kind == receiver::ReadResult::Kind::kUnavailable) {
    change.event = Event::kRetry;
    change.reason = Reason::kVerifyUnavailable;
    change.may_have_effect = true;
    change.counts_attempt = false;
    change.not_before = clock_.wall() + settings_.unavailable_wait;
    finish(job, std::move(change));
    return;
  }
  if (read.content_sha256 == job.record.content_sha256) {
    change.event = Event::kConfirm;
    change.result = ResultWord::kObservedApplied;
    change.evidence.observed_sha256 = read.content_sha256;
    finish(job, std::move(change));
    return;
  }
  // It is not there, and its settle time is over (it was RETRYABLE at least that long): no earlier attempt did it.
  job.record.may_have_effect = false;
  job.found_absent = true;
  job.phase = Phase::kClaimed;
  claimed_.push_back(job.record.seq.value);
}

void Attempts::after_effect_read(Job& job, const receiver::ReadResult& read) {
  ledger::Finish change = change_for(job);
  if (read.kind == receiver::ReadResult::Kind::kUnavailable) {
    change.event = Event::kRetry;
    change.reason = Reason::kReceiverUnavailable;
    change.counts_attempt = false;
    change.not_before = clock_.wall() + settings_.unavailable_wait;
    finish(job, std::move(change));
    return;
  }
  if (read.content_sha256 == job.prepared->content_sha256) {
    change.event = Event::kConfirm;
    change.result = ResultWord::kAlreadyAtTarget;
    change.evidence.observed_sha256 = read.content_sha256;
    finish(job, std::move(change));
    return;
  }
  job.phase = Phase::kStartable;
  startable_.push_back(job.record.seq.value);
}

// ---- one attempt ----

void Attempts::collect(ledger::Batch& batch, std::size_t slots, bool may_start) {
  std::deque<Seq> later;
  while (may_start && slots > 0 && !startable_.empty()) {
    Job* job = find(startable_.front());
    startable_.pop_front();
    if (job == nullptr) continue;
    if (auto refusal = operation_.recheck(job->record, *job->prepared)) {  // step 7
      finish_refused(*job, *refusal);
      continue;
    }
    job->attempt = base::AttemptId::generate();
    job->phase = Phase::kStarting;
    batch.starts.push_back({job->record.seq, *job->record.claim_id, job->attempt, job->prepared->effect_key,
                            job->prepared->content_sha256, job->found_absent});
    --slots;
  }
  while (!finished_.empty()) {
    Job* job = find(finished_.front());
    finished_.pop_front();
    if (job == nullptr) continue;
    job->phase = Phase::kFinishing;
    batch.finishes.push_back(job->change);
  }
}

void Attempts::not_committed(const ledger::Batch& batch) {
  for (const ledger::Start& start : batch.starts) {
    if (Job* job = find(start.seq.value)) {
      job->phase = Phase::kStartable;
      startable_.push_back(start.seq.value);
    }
  }
  for (const ledger::Finish& change : batch.finishes) {
    if (Job* job = find(change.seq.value)) {
      job->phase = Phase::kFinished;
      finished_.push_back(change.seq.value);
    }
  }
}

void Attempts::committed(const ledger::Batch& batch, const ledger::BatchResult& result) {
  assert(batch.starts.size() == result.started.size());
  assert(batch.finishes.size() == result.finished.size());
  for (std::size_t i = 0; i < batch.finishes.size(); ++i) {
    Job* job = find(batch.finishes[i].seq.value);
    if (job == nullptr || result.finished[i]) continue;
    base::log(LogLevel::kWarn, "claim_gone", {{"job", job->record.facts.job_id.str()}});
    release(job->record.seq);
  }
  for (std::size_t i = 0; i < batch.starts.size(); ++i) {
    Job* job = find(batch.starts[i].seq.value);
    if (job == nullptr) continue;
    const ledger::Started& started = result.started[i];
    if (started.ok) {
      job->counts = true;
      ++under_way_;
      send(*job, started.repetition);
      continue;
    }
    base::log(LogLevel::kWarn, "start_refused",
              {{"job", job->record.facts.job_id.str()},
               {"reason", started.refused ? model::to_word(*started.refused) : std::string_view("?")}});
    release(job->record.seq);
  }
}

void Attempts::send(Job& job, int repetition) {
  job.phase = Phase::kSending;
  ++outstanding_;
  operation_.send(coordinator_.mint(job.attempt), job.record, *job.prepared, repetition,
                  [this, seq = job.record.seq.value](const receiver::MutationResult& result) {
                    --outstanding_;
                    note_transport(result.answer);
                    if (Job* found = find(seq)) after_send(*found, result);
                    wake_();
                  });
}

void Attempts::note_transport(const model::Answer& answer) {
  const bool unwell = answer.transport != model::Transport::kAnswered || answer.http_status >= 502;
  if (!unwell) {
    health_.answered(clock_.boot());
    return;
  }
  if (answer.transport == model::Transport::kRefused) return;  // our own grant said no; says nothing of the receiver
  if (health_.failed(clock_.boot())) base::log(LogLevel::kWarn, "breaker_open", {{"status", answer.http_status}});
}

void Attempts::after_send(Job& job, const receiver::MutationResult& result) {
  job.answer = result.answer;
  job.retry_after = result.retry_after;
  job.row = &model::classify(result.answer);
  ledger::Finish change = change_for(job);
  change.reason = job.row->reason;
  switch (job.row->save) {
    case model::Next::kWaitAndSuspend: health_.suspend(job.row->reason); [[fallthrough]];
    case model::Next::kWait:
      change.event = Event::kRetry;
      change.may_have_effect = job.record.may_have_effect;
      change.counts_attempt = false;
      change.not_before = clock_.wall() + settings_.unavailable_wait;
      finish(job, std::move(change));
      return;
    case model::Next::kFailAndSuspend:
      health_.suspend(job.row->reason);
      base::log(LogLevel::kError, "suspended", {{"reason", model::to_word(job.row->reason)}});
      [[fallthrough]];
    case model::Next::kFail:
      change.event = Event::kNoEffect;
      change.result = ResultWord::kNoEffect;
      finish(job, std::move(change));
      return;
    case model::Next::kRetryLater:
      change.event = Event::kRetry;
      change.may_have_effect = job.record.may_have_effect;
      change.not_before = retry_at(job, result.retry_after);
      finish(job, std::move(change));
      return;
    case model::Next::kUnknownAndSuspend: health_.suspend(job.row->reason); [[fallthrough]];
    case model::Next::kUnknown:
      change.event = Event::kLose;
      change.result = ResultWord::kUnknown;
      change.may_have_effect = true;
      finish(job, std::move(change));
      return;
    case model::Next::kVerify:
    case model::Next::kRetryAfterReadBack:
      job.phase = Phase::kVerifying;
      job.settled_at = job.row->settle ? clock_.boot() + settings_.settle : clock_.boot();
      job.verify_until = std::max(clock_.boot() + settings_.verify_deadline, job.settled_at);
      job.reads = 0;
      verify(job);
      return;
  }
}

void Attempts::verify(Job& job) {
  read_target(job, [this](Job& j, const receiver::ReadResult& r) { after_verify(j, r); });
}

void Attempts::after_verify(Job& job, const receiver::ReadResult& read) {
  const base::BootTime now = clock_.boot();
  if (read.kind == receiver::ReadResult::Kind::kUnavailable) {
    const base::Micros wait = retry_wait(settings_.first_wait, job.reads, base::random_unit(), base::Micros{0});
    if (now + wait <= job.verify_until) {
      verify_again_after(job, wait);
    } else {
      settle_job(job, model::ReadBack::kUnavailable, read);
    }
    return;
  }
  if (read.content_sha256 == job.expected()) {
    settle_job(job, model::ReadBack::kEqual, read);
  } else if (now < job.settled_at) {
    verify_again_after(job, job.settled_at - now);  // the request may still be working there
  } else {
    settle_job(job, model::ReadBack::kOther, read);
  }
}

void Attempts::verify_again_after(Job& job, base::Micros wait) {
  job.timer = loop_.after(wait, [this, seq = job.record.seq.value] {
    if (Job* found = find(seq)) {
      found->timer = 0;
      verify(*found);
    }
  });
}

void Attempts::settle_job(Job& job, model::ReadBack read_back, const receiver::ReadResult& read) {
  ledger::Finish change = change_for(job);
  change.evidence.observed_sha256 = read.content_sha256;
  if (read_back == model::ReadBack::kOther) change.evidence.expected_sha256 = job.expected();
  model::Settled settled;
  if (job.taken_over) {  // J14: EQUAL is J09, everything else J13
    settled = read_back == model::ReadBack::kEqual
                  ? model::Settled{model::State::kSucceeded, std::nullopt, ResultWord::kObservedApplied, false}
                  : model::Settled{model::State::kRetryable, Reason::kWorkerDied, std::nullopt,
                                   read_back == model::ReadBack::kUnavailable};
  } else {
    settled = model::settle(model::JobKind::kSave, *job.row, read_back);
  }
  change.reason = settled.reason;
  change.result = settled.result;
  change.may_have_effect = settled.may_have_effect;
  const bool still_settling = clock_.boot() < job.settled_at;
  if (still_settling) change.settle_until = clock_.wall() + (job.settled_at - clock_.boot());
  switch (settled.to) {
    case model::State::kSucceeded: change.event = Event::kConfirm; break;
    case model::State::kFailed: change.event = Event::kNoEffect; break;
    case model::State::kRetryable:
      change.event = Event::kRetry;
      change.not_before = retry_at(job, job.retry_after);
      if (change.settle_until) change.not_before = std::max(*change.not_before, *change.settle_until);
      break;
    default:
      change.event = Event::kLose;
      change.may_have_effect = true;
      break;
  }
  finish(job, std::move(change));
}

// ---- ends ----

base::WallTime Attempts::retry_at(const Job& job, std::optional<base::Micros> retry_after) {
  return clock_.wall() + retry_wait(settings_.first_wait, job.record.attempt_count + 1, base::random_unit(),
                                    retry_after.value_or(base::Micros{0}));
}

ledger::Finish Attempts::change_for(const Job& job) const {
  ledger::Finish change;
  change.seq = job.record.seq;
  change.claim_id = *job.record.claim_id;
  change.may_have_effect = job.record.may_have_effect;
  if (job.answer.http_status != 0) change.evidence.http_status = job.answer.http_status;
  return change;
}

void Attempts::finish(Job& job, ledger::Finish change) {
  assert(job.phase != Phase::kFinished && job.phase != Phase::kFinishing);
  job.change = std::move(change);
  job.phase = Phase::kFinished;
  finished_.push_back(job.record.seq.value);
}

void Attempts::finish_refused(Job& job, const source::Refusal& refusal) {
  ledger::Finish change = change_for(job);
  change.reason = refusal.reason;
  change.evidence.detail = refusal.detail;
  if (refusal.reason == Reason::kSourceUnavailable) {
    change.event = Event::kRetry;
    change.counts_attempt = false;
    change.not_before = clock_.wall() + settings_.unavailable_wait;
  } else if (job.record.may_have_effect) {
    change.event = Event::kLose;
    change.result = ResultWord::kUnknown;
  } else {
    change.event = Event::kDeny;
    change.result = ResultWord::kRefused;
  }
  finish(job, std::move(change));
}

void Attempts::give_back() {
  for (std::deque<Seq>* queue : {&claimed_, &startable_}) {
    for (const Seq seq : *queue) {
      Job* job = find(seq);
      if (job == nullptr) continue;
      ledger::Finish change = change_for(*job);
      change.event = Event::kRetry;
      change.counts_attempt = false;
      change.not_before = clock_.wall();
      finish(*job, std::move(change));
    }
    queue->clear();
  }
}

std::string Attempts::release(base::JobSeq seq) {
  const auto it = jobs_.find(seq.value);
  if (it == jobs_.end()) return {};
  Job& job = *it->second;
  if (job.counts) --under_way_;
  if (job.prepared) held_bytes_ -= job.prepared->held_bytes;
  if (job.timer != 0) loop_.cancel(job.timer);
  std::string name = std::move(job.lease_name);
  jobs_.erase(it);
  return name;
}

std::string Attempts::describe() const {
  return fmt::format("in_hand={} unprepared={} startable={} under_way={} outstanding={} finished={} held_bytes={}",
                     jobs_.size(), claimed_.size(), startable_.size(), under_way_, outstanding_, finished_.size(),
                     held_bytes_);
}

}  // namespace intray::executor
