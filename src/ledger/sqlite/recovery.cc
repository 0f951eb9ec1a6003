#include "ledger/sqlite/recovery.h"

#include "ledger/sqlite/claims.h"
#include "ledger/sqlite/outcomes.h"

namespace intray::ledger::sqlite {
namespace {

using model::Event;
using model::Reason;
using model::ResultWord;
using model::State;

// It killed its worker often enough while it was alone there.
base::Result<void> set_aside(Work& work, Job& job, std::vector<Ended>& ended) {
  if (job.state == State::kClaimed) INTRAY_TRY(pass_start(work, job));
  const bool never_tried = job.attempts == 0 && !job.may_have_effect;
  return end(work, job,
             {.event = never_tried ? Event::kDeny : Event::kLose,
              .to = never_tried ? State::kRejected : State::kUnknown,
              .reason = Reason::kPoisonJob,
              .result = never_tried ? refused_word(work.kind) : ResultWord::kUnknown,
              .evidence = {},
              .settle_until = {}},
             Ended::From::kLease, ended);
}

// J08, J12: a started DELETE is never repeated because its worker died.
base::Result<void> lose_delete(Work& work, Job& job, std::vector<Ended>& ended) {
  return end(work, job,
             {.event = Event::kWorkerLost,
              .to = State::kUnknown,
              .reason = Reason::kWorkerDied,
              .result = ResultWord::kUnknown,
              .evidence = {},
              .settle_until = {}},
             Ended::From::kLease, ended);
}

// J06, J07: back to waiting, as a suspect.
base::Result<bool> put_back(Work& work, Job& job, std::vector<Ended>& ended) {
  const State to = job.attempts == 0 ? State::kReady : State::kRetryable;
  const model::Edge* edge = edge_for(work, job, Event::kWorkerLost, to);
  if (edge == nullptr) return base::fail(base::ErrorCode::kCorrupt, "the table has no row for a dead worker's claim");
  AuditRow row = move_of(work, job, "RECOVERED", *edge);
  row.reason = Reason::kWorkerDied;
  INTRAY_TRY(record(work, job, row));
  job.not_before.reset();
  if (to == State::kRetryable) job.not_before = work.now;
  {
    Use use(work.sql.wait_again);
    use.bind(to).bind(work.now).bind(true).bind(job.claim_deaths).bind(job.attempt_count).bind(job.may_have_effect);
    use.bind(job.not_before).bind(job.settle_until).bind(job.reason).bind(job.evidence.http_status);
    use.bind(job.evidence.expected_sha256).bind(job.evidence.observed_sha256).bind(job.evidence.detail);
    INTRAY_TRY(use.bind(job.last_audit).bind(job.seq).bind(job.state).bind(job.revision).swap());
  }
  job.state = to;
  job.suspect = true;
  ++job.revision;
  if (to == State::kRetryable) return !INTRAY_TRY(exhaust(work, job, Ended::From::kLease, ended));
  return true;
}

// J14: taken over under a new claim and fence; it is read back and never sent.
base::Result<void> take_over(Work& work, Job& job, bool solo) {
  const model::Edge* edge = edge_for(work, job, Event::kWorkerLost, State::kExecuting);
  if (edge == nullptr) return base::fail(base::ErrorCode::kCorrupt, "the table has no row for a dead worker's attempt");
  job.claim_id = base::ClaimId::generate();
  job.fence = work.draw_fence();
  job.epoch = work.held.epoch;
  job.worker_id = work.held.connector_id;
  job.binding = work.held.identity.binding;
  job.suspect = true;
  AuditRow row = move_of(work, job, "RECOVERED", *edge);
  row.attempt = job.attempt_id;
  row.reason = Reason::kWorkerDied;
  INTRAY_TRY(record(work, job, row));
  const base::WallTime lease_until = work.now + base::Micros{work.policy.job_lease_us};
  Use use(work.sql.take_over_job);
  use.bind(work.now).bind(solo).bind(job.claim_deaths).bind(job.binding).bind(job.worker_id).bind(job.claim_id);
  use.bind(job.epoch).bind(job.fence).bind(work.now).bind(lease_until).bind(job.last_audit).bind(job.seq);
  INTRAY_TRY(use.bind(job.revision).swap());
  ++job.revision;
  return {};
}

}  // namespace

base::Result<Ledger::Recovered> recover(Work& work) {
  Ledger::Recovered recovered;
  std::vector<base::JobSeq> left;
  {
    Use use(work.sql.held_by_earlier);
    use.bind(work.held.identity.binding).bind(work.held.epoch);
    while (INTRAY_TRY(use.next())) left.push_back(use.number<base::JobSeq>());
  }
  for (const base::JobSeq seq : left) {
    auto job = INTRAY_TRY(load_job(work, seq));
    if (!job || (job->state != State::kClaimed && job->state != State::kExecuting)) continue;
    if (work.kind == model::JobKind::kDelete) {
      INTRAY_TRY(lose_delete(work, *job, recovered.ended));
      continue;
    }
    if (job->solo) ++job->claim_deaths;
    if (job->claim_deaths >= work.policy.solo_deaths_max) {
      INTRAY_TRY(set_aside(work, *job, recovered.ended));
      continue;
    }
    if (job->state == State::kClaimed) {
      if (INTRAY_TRY(put_back(work, *job, recovered.ended))) ++recovered.back_to_waiting;
      continue;
    }
    const bool died_again = job->suspect;
    INTRAY_TRY(take_over(work, *job, left.size() == 1));
    if (!died_again) {
      recovered.to_verify.push_back(*job);
      continue;
    }
    // Its second death as a suspect: it goes back to waiting, and is read back alone.
    const std::size_t ended_before = recovered.ended.size();
    INTRAY_TRY(retry(work, *job,
                     {.reason = Reason::kWorkerDied,
                      .evidence = {},
                      .not_before = {},
                      .settle_until = job->settle_until,
                      .suspect = true},
                     Ended::From::kLease, recovered.ended));
    if (recovered.ended.size() == ended_before) ++recovered.back_to_waiting;
  }
  return recovered;
}

}  // namespace intray::ledger::sqlite
