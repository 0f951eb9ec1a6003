#include "ledger/sqlite/admission.h"

#include "base/escape.h"
#include "ledger/sqlite/claims.h"
#include "ledger/sqlite/outcomes.h"
#include "model/job.h"

namespace intray::ledger::sqlite {
namespace {

using model::Event;
using model::Reason;
using model::State;

Admitted ended_at_once(Ended ended) {
  Admitted admitted;
  admitted.admission = Admission::kEnded;
  admitted.ended = std::move(ended);
  return admitted;
}

base::Result<Admitted> reject_file(Work& work, const Admit& file, Reason reason,
                                   const std::optional<base::JobId>& job_id, const std::string& detail) {
  {
    Use use(work.sql.file_by_take);
    if (INTRAY_TRY(use.bind(file.take).next())) {
      const RejectedFile known = read_rejected_file(use);
      INTRAY_TRY(use.intact());
      return ended_at_once(ended_of(known, work.kind));
    }
  }
  RejectedFile row;
  row.take = file.take;
  row.name = base::escape(file.dropped_name);
  row.name_created_us = file.name_created_us;
  row.owner_uid = file.owner_uid;
  row.taken_at = file.taken_at;
  row.rejected_at = work.now;
  row.sha256 = file.sha256;
  row.job_id = job_id;
  row.reason = reason;
  row.detail = detail;
  row.epoch = work.held.epoch;
  row.worker_id = work.held.connector_id;

  AuditRow audit;
  audit.at = work.now;
  audit.event = "REJECTED";
  audit.job_id = job_id;
  if (file.facts) audit.mission_id = file.facts->mission_id;
  audit.job_type = model::job_type_of(work.kind);
  const model::Edge* edge =
      model::find_edge(work.kind, State::kCreated, Event::kRefuse, State::kRejected, false, false);
  audit.from_state = edge->from;
  audit.to_state = edge->to;
  audit.row = edge->row;
  audit.worker_id = row.worker_id;
  audit.epoch = row.epoch;
  audit.reason = reason;
  audit.result = refused_word(work.kind);
  audit.detail = row.name + (detail.empty() ? "" : ": " + detail);
  INTRAY_TRY(append(work.sql.insert_audit, work.audit, audit, std::nullopt));
  row.audit = audit.seq;
  row.audit_hash = audit.hash;

  Use use(work.sql.insert_file);
  use.bind(row.audit).bind(row.take).bind(row.name).bind(row.name_created_us).bind(row.owner_uid).bind(row.taken_at);
  use.bind(row.rejected_at).bind(row.sha256).bind(row.job_id).bind(row.reason).bind(row.detail).bind(row.epoch);
  INTRAY_TRY(use.bind(row.worker_id).change());
  return ended_at_once(ended_of(row, work.kind));
}

struct Known {
  base::JobSeq seq;
  base::Sha256 sha256;
  base::TakeNumber take;
};

base::Result<std::optional<Known>> find_known(Work& work, const base::JobId& job_id) {
  Use use(work.sql.known_job);
  if (!INTRAY_TRY(use.bind(job_id).next())) return std::nullopt;
  Known known;
  known.seq = use.number<base::JobSeq>();
  known.sha256 = use.hash();
  known.take = use.number<base::TakeNumber>();
  INTRAY_TRY(use.intact());
  return known;
}

// The very file of a known job, admitted before a crash: nothing happens twice.
base::Result<Admitted> admitted_before(Work& work, const Job& job) {
  Admitted admitted;
  if (job.end_audit) {
    admitted.ended = INTRAY_TRY(ended_again(work.sql, job, Ended::From::kLease));
    admitted.admission = Admission::kEnded;
  } else {
    admitted.admission = job.follows ? Admission::kFollowing : Admission::kReady;
  }
  return admitted;
}

base::Result<Admitted> admit_again(Work& work, const Admit& file, const Known& known) {
  auto job = INTRAY_TRY(load_job(work, known.seq));
  if (!job) return base::fail(base::ErrorCode::kCorrupt, "jobs: a row vanished");
  if (known.take == file.take) return admitted_before(work, *job);
  Admitted admitted;
  admitted.admission = Admission::kDuplicate;
  if (job->end_audit) admitted.ended = INTRAY_TRY(ended_again(work.sql, *job, Ended::From::kNowhere));
  AuditRow row = row_of(work, *job, "DUPLICATE");
  row.claim_id.reset();
  row.fence.reset();
  INTRAY_TRY(record(work, *job, row));
  Use use(work.sql.touch_audit);
  INTRAY_TRY(use.bind(job->last_audit).bind(job->seq).swap());
  return admitted;
}

// The jobs of one idempotency key as the next of them sees them.
struct KeyHolder {
  base::JobSeq newest;
  base::JobSeq first;  // what the newest follows, or itself
};

base::Result<std::optional<KeyHolder>> holder_of_key(Work& work, const base::IdempotencyKey& key) {
  Use use(work.sql.newest_of_key);
  if (!INTRAY_TRY(use.bind(key).next())) return std::nullopt;
  KeyHolder holder;
  holder.newest = use.number<base::JobSeq>();
  holder.first = use.number<base::JobSeq>();
  INTRAY_TRY(use.intact());
  return holder;
}

// The job that the next one of its key follows; none where that one ended for reasons of its own, untried: then the
// next one is tried. Only the newest is looked at, whatever the number of jobs: each of them names the first of its
// time.
base::Result<std::optional<Job>> first_to_follow(Work& work, base::JobSeq first) {
  auto job = INTRAY_TRY(load_job(work, first));
  if (!job) return base::fail(base::ErrorCode::kCorrupt, "jobs: a row vanished");
  const bool untried = job->state == State::kRejected && job->attempts == 0;
  if (untried && job->reason && model::is_about_job_alone(*job->reason)) return std::nullopt;
  return job;
}

base::Result<bool> asks_the_same(Work& work, base::JobSeq other, const std::string& bytes) {
  Use use(work.sql.body);
  if (!INTRAY_TRY(use.bind(other).next())) {
    return base::fail(base::ErrorCode::kCorrupt,
                      "job_bodies: the bytes of job " + std::to_string(other.value) + " are missing");
  }
  return model::same_request(use.raw(), bytes);
}

base::Result<void> insert(Work& work, const Admit& file, const Job& job) {
  const JobFacts& facts = job.facts;
  const bool occupies = !job.follows && !model::is_ended(job.state);
  {
    Use use(work.sql.insert_job);
    use.bind(job.seq).bind(facts.job_id).bind(facts.mission_id).bind(facts.object_id).bind(facts.vault_path);
    use.bind(facts.commit).bind(facts.provenance_hash).bind(facts.expected_state).bind(facts.created_at);
    use.bind(facts.idempotency_key).bind(facts.delete_request_id).bind(facts.approval_id).bind(job.job_sha256);
    use.bind(job.take).bind(job.name_created_us).bind(file.owner_uid).bind(file.taken_at).bind(job.admitted_at);
    use.bind(job.follows).bind(job.deadline_at).bind(job.state).bind(work.now);
    if (occupies) {
      use.bind(1);
    } else {
      use.bind(std::nullopt);
    }
    use.bind(job.behind);
    if (job.claim_id) {
      use.bind(work.held.identity.binding).bind(job.worker_id).bind(job.claim_id).bind(job.epoch).bind(job.fence);
      use.bind(work.now).bind(work.now + base::Micros{work.policy.job_lease_us});
    } else {
      for (int i = 0; i < 7; ++i) use.bind(std::nullopt);
    }
    use.bind(job.reason).bind(job.result).bind(job.finished_at).bind(job.evidence.detail).bind(job.last_audit);
    INTRAY_TRY(use.bind(job.end_audit).change());
  }
  Use use(work.sql.insert_body);
  INTRAY_TRY(use.bind(job.seq).bind_blob(file.bytes).change());
  return {};
}

Job new_job(const Work& work, const Admit& file, base::JobSeq seq) {
  Job job;
  job.seq = seq;
  job.facts = *file.facts;
  job.job_sha256 = file.sha256.value_or(base::Sha256{});
  job.take = file.take;
  job.name_created_us = file.name_created_us;
  job.owner_uid = file.owner_uid;
  job.job_bytes = static_cast<std::int64_t>(file.bytes.size());
  job.admitted_at = work.now;
  job.state_since = work.now;
  job.deadline_at = work.now + base::Micros{work.policy.deadline_us};
  return job;
}

// J02: a job whose contract holds, refused by a rule of admission. Its id and key are taken for ever.
base::Result<Admitted> refuse(Work& work, const Admit& file, Job job) {
  const model::Edge* edge = edge_for(work, job, Event::kRefuse, State::kRejected);
  if (edge == nullptr) return base::fail(base::ErrorCode::kInvalid, "the table has no row for a refusal");
  AuditRow row = move_of(work, job, "REJECTED", *edge);
  row.reason = file.refusal;
  row.result = refused_word(work.kind);
  row.detail = file.detail;
  const base::Sha256 hash = INTRAY_TRY(record(work, job, row));
  job.state = State::kRejected;
  job.reason = file.refusal;
  job.result = row.result;
  job.finished_at = work.now;
  job.end_audit = job.last_audit;
  if (!file.detail.empty()) job.evidence.detail = file.detail;
  INTRAY_TRY(insert(work, file, job));
  return ended_at_once(ended_of(job, {hash, work.held.epoch, work.held.connector_id}, Ended::From::kLease));
}

// J01, and J03 in the same row where the job can run at once.
base::Result<Admitted> enter(Work& work, const Admit& file, Job job) {
  Admitted admitted;
  const model::Edge* admit_edge = edge_for(work, job, Event::kAdmit, State::kReady);
  if (admit_edge == nullptr) return base::fail(base::ErrorCode::kInvalid, "the table has no row for an admission");
  AuditRow requested = move_of(work, job, "REQUESTED", *admit_edge);
  INTRAY_TRY(record(work, job, requested));
  job.state = State::kReady;
  job.behind = INTRAY_TRY(occupant_before(work, job.facts.object_id, job.facts.vault_path, job.seq));
  const bool now = file.claim_now && !work.lease_expired && !job.behind &&
                   !INTRAY_TRY(is_settling(work, job.facts.object_id, job.facts.vault_path, job.seq));
  if (now) {
    const model::Edge* claim_edge = edge_for(work, job, Event::kClaim, State::kClaimed);
    if (claim_edge == nullptr) return base::fail(base::ErrorCode::kInvalid, "the table has no row for a claim");
    job.claim_id = base::ClaimId::generate();
    job.fence = work.draw_fence();
    job.epoch = work.held.epoch;
    job.worker_id = work.held.connector_id;
    AuditRow claimed = move_of(work, job, "CLAIMED", *claim_edge);
    INTRAY_TRY(record(work, job, claimed));
    job.state = State::kClaimed;
  }
  INTRAY_TRY(insert(work, file, job));
  admitted.admission = now ? Admission::kClaimed : Admission::kReady;
  if (now) admitted.job = job;
  return admitted;
}

// A replay: in line behind its first job, or where that is final, through it at once.
base::Result<Admitted> follow(Work& work, const Admit& file, Job job, const Job& first) {
  const model::Edge* edge = edge_for(work, job, Event::kAdmit, State::kReady);
  if (edge == nullptr) return base::fail(base::ErrorCode::kInvalid, "the table has no row for an admission");
  job.follows = first.seq;
  AuditRow row = move_of(work, job, "REQUESTED", *edge);
  INTRAY_TRY(record(work, job, row));
  job.state = State::kReady;
  INTRAY_TRY(insert(work, file, job));
  if (!model::is_final(first.state)) {
    Admitted admitted;
    admitted.admission = Admission::kFollowing;
    return admitted;
  }
  std::vector<Ended> ended;
  INTRAY_TRY(replay(work, job, first, Ended::From::kLease, ended));
  return ended_at_once(std::move(ended.front()));
}

}  // namespace

base::Result<Admitted> admit(Work& work, const Admit& file) {
  if (!file.facts) {
    return reject_file(work, file, file.refusal.value_or(Reason::kMalformedJson), file.trusted_job_id, file.detail);
  }
  const JobFacts& facts = *file.facts;
  if (facts.kind != work.kind || !file.sha256 || file.bytes.empty()) {
    return base::fail(base::ErrorCode::kInvalid, "admit: a job of another kind, or without its bytes");
  }
  if (const auto known = INTRAY_TRY(find_known(work, facts.job_id))) {
    if (known->sha256 == *file.sha256) return admit_again(work, file, *known);
    return reject_file(work, file, Reason::kJobIdConflict, facts.job_id, "another job has this job_id");
  }
  const auto holder = INTRAY_TRY(holder_of_key(work, facts.idempotency_key));
  if (holder && !INTRAY_TRY(asks_the_same(work, holder->newest, file.bytes))) {
    return reject_file(work, file, Reason::kIdempotencyKeyConflict, facts.job_id,
                       "another request has this idempotency_key");
  }
  const auto first = holder ? INTRAY_TRY(first_to_follow(work, holder->first)) : std::nullopt;
  Job job = new_job(work, file, work.next_job());
  if (file.refusal) {
    if (first) job.follows = first->seq;  // whose turn it is stays known
    return refuse(work, file, std::move(job));
  }
  if (first) return follow(work, file, std::move(job), *first);
  return enter(work, file, std::move(job));
}

RejectedFile read_rejected_file(Use& use) {
  RejectedFile file;
  file.audit = use.number<base::AuditSeq>();
  file.take = use.number<base::TakeNumber>();
  file.name = use.text();
  file.name_created_us = use.integer();
  file.owner_uid = static_cast<std::uint32_t>(use.integer());
  file.taken_at = use.time();
  file.rejected_at = use.time();
  file.sha256 = use.hash_or_null();
  file.job_id = use.id_or_null<base::JobId>();
  file.reason = use.reason_or_null().value_or(Reason::kMalformedJson);
  file.detail = use.text();
  file.epoch = use.number<base::Epoch>();
  file.worker_id = use.id<base::WorkerId>();
  file.audit_hash = use.hash();
  return file;
}

Ended ended_of(const RejectedFile& file, model::JobKind kind) {
  Ended ended;
  model::Receipt& receipt = ended.receipt;
  receipt.job_id = file.job_id;
  if (!file.job_id) receipt.file_name = file.name;
  receipt.job_sha256 = file.sha256;
  receipt.kind = kind;
  receipt.state = State::kRejected;
  receipt.reason = file.reason;
  receipt.result = refused_word(kind);
  receipt.attempts = 0;
  receipt.admitted_at = file.rejected_at;
  receipt.finished_at = file.rejected_at;
  receipt.audit_seq = file.audit;
  receipt.audit_hash = file.audit_hash;
  receipt.epoch = file.epoch;
  receipt.worker_id = file.worker_id;
  if (!file.detail.empty()) receipt.evidence.detail = file.detail;
  ended.name_created_us = file.name_created_us;
  ended.owner_uid = file.owner_uid;
  ended.from = Ended::From::kLease;
  return ended;
}

}  // namespace intray::ledger::sqlite
