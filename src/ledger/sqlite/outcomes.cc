#include "ledger/sqlite/outcomes.h"

#include <cstdlib>
#include <string>

#include "ledger/sqlite/claims.h"
#include "limits.h"

namespace intray::ledger::sqlite {
namespace {

using model::Event;
using model::Reason;
using model::ResultWord;
using model::State;

// Of an effect whose request never left the machine.
constexpr std::string_view kUnsent = "UNSENT";

std::string_view name_of_end(State to, ResultWord result) {
  if (to == State::kRejected) return "REJECTED";
  if (result == ResultWord::kApplied || result == ResultWord::kObservedApplied) return "EXECUTED";
  if (result == ResultWord::kAlreadyAtTarget) return "OBSERVED";
  return "OUTCOME";
}

bool holds(const Work& work, const Job& job, base::ClaimId claim) {
  return job.claim_id == claim && job.epoch == work.held.epoch && job.binding == work.held.identity.binding &&
         (job.state == State::kClaimed || job.state == State::kExecuting);
}

State target_of(Event event) {
  switch (event) {
    case Event::kConfirm: return State::kSucceeded;
    case Event::kNoEffect: return State::kFailed;
    case Event::kDeny: return State::kRejected;
    case Event::kLose: return State::kUnknown;
    case Event::kRetry: return State::kRetryable;
    default: std::abort();  // no other event finishes a job
  }
}

// What is now known of the job's last attempt that isn't settled yet, and of its effect.
base::Result<void> settle_attempt(Work& work, const Job& job, std::string_view outcome,
                                  const model::Evidence& evidence) {
  if (job.attempts == 0) return {};
  {
    Use use(work.sql.end_attempt);
    use.bind(work.now).bind(outcome).bind(evidence.http_status).bind(evidence.observed_sha256);
    INTRAY_TRY(use.bind(job.seq).bind(job.attempts).change());
  }
  if (!job.effect) return {};
  if (outcome == "APPLIED") {
    Use use(work.sql.apply_effect);
    INTRAY_TRY(use.bind(job.last_audit).bind(*job.effect).change());
  } else {
    Use use(work.sql.settle_effect);
    INTRAY_TRY(use.bind(outcome).bind(*job.effect).change());
  }
  return {};
}

std::optional<std::string_view> outcome_of_end(State to, ResultWord result) {
  if (to == State::kUnknown) return "UNKNOWN";
  if (to != State::kSucceeded) return "NONE";
  if (result == ResultWord::kApplied || result == ResultWord::kObservedApplied) return "APPLIED";
  return std::nullopt;  // found at the target, or a replay: it says nothing of an attempt
}

base::Result<void> end_followers(Work& work, const Job& first, std::vector<Ended>& ended) {
  std::vector<base::JobSeq> followers;
  {
    Use use(work.sql.followers);
    use.bind(first.seq);
    while (INTRAY_TRY(use.next())) followers.push_back(use.number<base::JobSeq>());
  }
  for (const base::JobSeq seq : followers) {
    auto follower = INTRAY_TRY(load_job(work, seq));
    if (follower) INTRAY_TRY(replay(work, *follower, first, Ended::From::kCur, ended));
  }
  return {};
}

// The effect that this attempt is for, and its repetition. The number names one request: a receiver that answers a
// number it knows with its old answer must not do so for a request that is meant to change something. So only a request
// that never left the machine lends its number to the next one (decisions/0015-one-number-a-request.md).
base::Result<void> begin_effect(Work& work, Job& job, const Start& start) {
  std::optional<std::int64_t> last;
  bool unsent = false;
  job.repetition = 0;
  {
    Use use(work.sql.last_effect);
    if (INTRAY_TRY(use.bind(start.effect_key).next())) {
      last = use.integer();
      job.repetition = static_cast<int>(use.integer());
      unsent = use.text() == kUnsent;
      INTRAY_TRY(use.intact());
    }
  }
  if (last && unsent) {
    Use use(work.sql.reopen_effect);
    INTRAY_TRY(use.bind(job.seq).bind(*last).swap());
    job.effect = last;
    return {};
  }
  if (last) ++job.repetition;
  Use use(work.sql.insert_effect);
  use.bind(start.effect_key).bind(job.repetition).bind(job.facts.object_id).bind(job.facts.vault_path);
  use.bind(job.facts.commit).bind(start.content_sha256).bind(job.seq);
  job.effect = INTRAY_TRY(use.insert());
  return {};
}

base::Result<void> insert_attempt(Work& work, const Job& job, const Start& start, bool is_void) {
  Use use(work.sql.insert_attempt);
  use.bind(job.seq).bind(job.attempts).bind(start.attempt_id).bind(job.effect).bind(start.effect_key);
  use.bind(job.repetition).bind(start.content_sha256).bind(work.now);
  if (is_void) {
    use.bind(work.now).bind("VOID");
  } else {
    use.bind(std::nullopt).bind(std::nullopt);
  }
  INTRAY_TRY(use.bind(job.epoch).bind(job.fence).change());
  return {};
}

base::Result<void> update_started(Work& work, Job& job) {
  Use use(work.sql.start_job);
  use.bind(work.now).bind(job.attempts).bind(job.attempt_count).bind(job.may_have_effect).bind(job.last_audit);
  INTRAY_TRY(use.bind(job.seq).bind(job.claim_id).bind(job.revision).swap());
  job.state = State::kExecuting;
  ++job.revision;
  return {};
}

// The attempt was never sent: its id is kept, so that it is accounted for, and nothing else of it.
base::Result<void> refuse_start(Work& work, Job& job, const Start& start, Reason reason, const model::Edge& edge,
                                std::vector<Ended>& ended) {
  ++job.attempts;
  INTRAY_TRY(insert_attempt(work, job, start, true));
  AuditRow row = move_of(work, job, "STARTED", edge);
  row.attempt = start.attempt_id;
  row.reason = reason;
  INTRAY_TRY(record(work, job, row));
  INTRAY_TRY(update_started(work, job));
  if (work.kind == model::JobKind::kSave) {
    return retry(work, job, {.reason = reason, .evidence = {}, .not_before = {}, .settle_until = {}},
                 Ended::From::kLease, ended);
  }
  const bool possible = job.may_have_effect;
  return end(work, job,
             {.event = possible ? Event::kLose : Event::kNoEffect,
              .to = possible ? State::kUnknown : State::kFailed,
              .reason = reason,
              .result = possible ? ResultWord::kUnknown : ResultWord::kNoEffect,
              .evidence = {},
              .settle_until = {}},
             Ended::From::kLease, ended);
}

}  // namespace

ResultWord refused_word(model::JobKind kind) {
  return kind == model::JobKind::kSave ? ResultWord::kRefused : ResultWord::kDeleteDenied;
}

base::Result<Started> start(Work& work, const Start& start, std::vector<Ended>& ended) {
  const auto refused = [](Reason reason) { return Started{.ok = false, .repetition = 0, .refused = reason}; };
  auto job = INTRAY_TRY(load_job(work, start.seq));
  if (!job || !holds(work, *job, start.claim_id)) return refused(Reason::kStaleEpoch);
  const model::Edge* edge = edge_for(work, *job, Event::kStart, State::kExecuting);
  if (edge == nullptr || (job->may_have_effect && !start.found_absent)) {
    INTRAY_TRY(record_refusal(work, *job, State::kExecuting));
    return refused(Reason::kInvalidTransition);
  }
  if (work.lease_expired || !work.gate_open) {
    const Reason reason = work.lease_expired ? Reason::kLeaseExpired : Reason::kGateBlocked;
    INTRAY_TRY(refuse_start(work, *job, start, reason, *edge, ended));
    return refused(reason);
  }
  // What an earlier attempt left open is settled by the read-back that allows this one.
  if (job->attempts > 0) INTRAY_TRY(settle_attempt(work, *job, "NONE", {}));
  INTRAY_TRY(begin_effect(work, *job, start));
  ++job->attempts;
  ++job->attempt_count;
  job->may_have_effect = true;
  INTRAY_TRY(insert_attempt(work, *job, start, false));
  AuditRow authorized = row_of(work, *job, "AUTHORIZED");
  authorized.attempt = start.attempt_id;
  INTRAY_TRY(record(work, *job, authorized));
  AuditRow attempt = move_of(work, *job, "ATTEMPT", *edge);
  attempt.attempt = start.attempt_id;
  INTRAY_TRY(record(work, *job, attempt));
  INTRAY_TRY(update_started(work, *job));
  return Started{.ok = true, .repetition = job->repetition, .refused = {}};
}

base::Result<void> pass_start(Work& work, Job& job) {
  const model::Edge* edge = edge_for(work, job, Event::kStart, State::kExecuting);
  if (edge == nullptr)
    return base::fail(base::ErrorCode::kStale, "job can't be started from " + std::string(to_word(job.state)));
  AuditRow row = move_of(work, job, "STARTED", *edge);
  INTRAY_TRY(record(work, job, row));
  return update_started(work, job);
}

base::Result<void> keep_late_evidence(Work& work, const Finish& finish) {
  Use use(work.sql.insert_late_evidence);
  use.bind(work.now).bind(finish.seq).bind(finish.claim_id).bind(work.held.lease_id).bind(work.held.connector_id);
  use.bind(work.held.epoch).bind(target_of(finish.event)).bind(finish.reason).bind(finish.result);
  use.bind(finish.may_have_effect).bind(finish.evidence.http_status).bind(finish.evidence.expected_sha256);
  INTRAY_TRY(use.bind(finish.evidence.observed_sha256).bind(finish.evidence.detail).change());
  return {};
}

base::Result<bool> finish(Work& work, const Finish& finish, std::vector<Ended>& ended) {
  const State to = target_of(finish.event);
  auto job = INTRAY_TRY(load_job(work, finish.seq));
  if (!job || !holds(work, *job, finish.claim_id)) {
    INTRAY_TRY(keep_late_evidence(work, finish));
    return false;
  }
  const bool had_attempt = job->state == State::kExecuting;
  // Judged before anything is written: the edge out of EXECUTING, with what is known after this finish.
  const bool allowed = model::find_edge(work.kind, State::kExecuting, finish.event, to, job->attempts > 0,
                                        finish.may_have_effect) != nullptr &&
                       (to == State::kRetryable || finish.result);
  if (!allowed) {
    INTRAY_TRY(record_refusal(work, *job, to));
    return false;
  }
  if (!had_attempt) INTRAY_TRY(pass_start(work, *job));
  job->may_have_effect = finish.may_have_effect;
  if (to == State::kRetryable) {
    const bool unsent = had_attempt && !finish.counts_attempt && !finish.may_have_effect;
    if (had_attempt && !finish.counts_attempt && job->attempt_count > 0) --job->attempt_count;
    INTRAY_TRY(retry(work, *job,
                     {.reason = finish.reason,
                      .evidence = finish.evidence,
                      .not_before = finish.not_before,
                      .settle_until = finish.settle_until,
                      .unsent = unsent},
                     Ended::From::kLease, ended));
    return true;
  }
  INTRAY_TRY(end(work, *job,
                 {.event = finish.event,
                  .to = to,
                  .reason = finish.reason,
                  .result = *finish.result,
                  .evidence = finish.evidence,
                  .settle_until = finish.settle_until},
                 Ended::From::kLease, ended));
  return true;
}

base::Result<void> end(Work& work, Job& job, const End& how, Ended::From from, std::vector<Ended>& ended) {
  const model::Edge* edge = edge_for(work, job, how.event, how.to);
  if (edge == nullptr) {
    return base::fail(base::ErrorCode::kStale,
                      "job can't end " + std::string(to_word(how.to)) + " from " + std::string(to_word(job.state)));
  }
  AuditRow row = move_of(work, job, name_of_end(how.to, how.result), *edge);
  row.attempt = job.attempt_id;
  row.reason = how.reason;
  row.result = how.result;
  if (how.evidence.detail) row.detail = *how.evidence.detail;
  const base::Sha256 hash = INTRAY_TRY(record(work, job, row));
  job.reason = how.reason;
  job.result = how.result;
  job.evidence = how.evidence;
  job.finished_at = work.now;
  job.end_audit = job.last_audit;
  // A DELETE that nobody can say the end of still keeps later ones of its object away.
  const bool stays = how.to == State::kUnknown && work.kind == model::JobKind::kDelete;
  {
    Use use(work.sql.end_job);
    use.bind(how.to).bind(work.now);
    if (stays) {
      use.bind(1);
    } else {
      use.bind(std::nullopt);
    }
    use.bind(job.attempt_count).bind(job.may_have_effect).bind(how.settle_until).bind(job.reason).bind(job.result);
    use.bind(job.finished_at).bind(job.evidence.http_status).bind(job.evidence.expected_sha256);
    use.bind(job.evidence.observed_sha256).bind(job.evidence.detail).bind(job.last_audit).bind(job.end_audit);
    INTRAY_TRY(use.bind(job.seq).bind(job.state).bind(job.revision).swap());
  }
  job.state = how.to;
  job.state_since = work.now;
  ++job.revision;
  if (const auto outcome = outcome_of_end(how.to, how.result))
    INTRAY_TRY(settle_attempt(work, job, *outcome, how.evidence));
  if (how.settle_until && work.settling) {
    work.settling->push_back({job.seq, job.facts.object_id, job.facts.vault_path, *how.settle_until});
  }
  if (!stays && !job.follows) INTRAY_TRY(leave_lanes(work, job.seq));
  ended.push_back(ended_of(job, {hash, work.held.epoch, work.held.connector_id}, from));
  if (model::is_final(job.state)) INTRAY_TRY(end_followers(work, job, ended));
  return {};
}

base::Result<void> retry(Work& work, Job& job, const Retry& how, Ended::From from, std::vector<Ended>& ended) {
  const model::Edge* edge = edge_for(work, job, Event::kRetry, State::kRetryable);
  if (edge == nullptr)
    return base::fail(base::ErrorCode::kStale, "job can't be retried from " + std::string(to_word(job.state)));
  AuditRow row = move_of(work, job, "RETRY", *edge);
  row.attempt = job.attempt_id;
  row.reason = how.reason;
  if (how.evidence.detail) row.detail = *how.evidence.detail;
  INTRAY_TRY(record(work, job, row));
  job.not_before = how.not_before.value_or(work.now);
  job.evidence = how.evidence;
  job.reason = how.reason;
  {
    Use use(work.sql.wait_again);
    use.bind(State::kRetryable).bind(work.now).bind(how.suspect).bind(job.claim_deaths).bind(job.attempt_count);
    use.bind(job.may_have_effect).bind(job.not_before).bind(how.settle_until).bind(how.reason);
    use.bind(how.evidence.http_status).bind(how.evidence.expected_sha256).bind(how.evidence.observed_sha256);
    use.bind(how.evidence.detail).bind(job.last_audit).bind(job.seq).bind(job.state);
    INTRAY_TRY(use.bind(job.revision).swap());
  }
  job.state = State::kRetryable;
  job.suspect = how.suspect;
  job.settle_until = how.settle_until;
  ++job.revision;
  INTRAY_TRY(settle_attempt(work, job, job.may_have_effect ? "POSSIBLE" : "NONE", how.evidence));
  if (how.unsent && job.effect) {
    Use use(work.sql.settle_effect);
    INTRAY_TRY(use.bind(kUnsent).bind(*job.effect).change());
  }
  if (how.settle_until && work.settling) {
    work.settling->push_back({job.seq, job.facts.object_id, job.facts.vault_path, *how.settle_until});
  }
  INTRAY_TRY(exhaust(work, job, from, ended));
  return {};
}

base::Result<bool> exhaust(Work& work, Job& job, Ended::From from, std::vector<Ended>& ended) {
  const bool late = job.deadline_at <= work.now;
  if (!late && job.attempt_count < work.policy.attempts_max) return false;
  const bool possible = job.may_have_effect;
  INTRAY_TRY(end(work, job,
                 {.event = Event::kExhaust,
                  .to = possible ? State::kUnknown : State::kFailed,
                  .reason = late ? Reason::kDeadlineExceeded : Reason::kRetriesExhausted,
                  .result = possible ? ResultWord::kUnknown : ResultWord::kNoEffect,
                  .evidence = job.evidence,
                  .settle_until = job.settle_until},
                 from, ended));
  return true;
}

base::Result<void> replay(Work& work, Job& follower, const Job& first, Ended::From from, std::vector<Ended>& ended) {
  INTRAY_TRY(claim(work, follower, false));
  INTRAY_TRY(pass_start(work, follower));
  const Event event = first.state == State::kSucceeded ? Event::kConfirm
                      : first.state == State::kFailed  ? Event::kNoEffect
                                                       : Event::kDeny;
  return end(work, follower,
             {.event = event,
              .to = first.state,
              .reason = first.reason,
              .result = ResultWord::kIdempotentReplay,
              .evidence = {},
              .settle_until = {}},
             from, ended);
}

base::Result<bool> end_if_late(Work& work, Job& job, std::vector<Ended>& ended) {
  if (job.state == State::kRetryable) return exhaust(work, job, Ended::From::kCur, ended);
  if (job.deadline_at > work.now) return false;
  const bool possible = job.may_have_effect;
  INTRAY_TRY(end(work, job,
                 {.event = Event::kWithdraw,
                  .to = possible ? State::kUnknown : State::kRejected,
                  .reason = Reason::kDeadlineExceeded,
                  .result = possible ? ResultWord::kUnknown : refused_word(work.kind),
                  .evidence = {},
                  .settle_until = {}},
                 Ended::From::kCur, ended));
  return true;
}

base::Result<void> expire(Work& work, std::vector<Ended>& ended) {
  {
    Use use(work.sql.clear_settled);
    INTRAY_TRY(use.bind(work.now).change());
  }
  std::vector<base::JobSeq> late;
  {
    Use use(work.sql.past_deadline);
    use.bind(work.now).bind(limits::kExpirePerCommitMax);
    while (INTRAY_TRY(use.next())) late.push_back(use.number<base::JobSeq>());
  }
  for (const base::JobSeq seq : late) {
    auto job = INTRAY_TRY(load_job(work, seq));
    if (!job) continue;
    INTRAY_TRY(end_if_late(work, *job, ended));
  }
  return {};
}

}  // namespace intray::ledger::sqlite
