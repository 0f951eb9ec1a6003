#include "ledger/sqlite/work.h"

namespace intray::ledger::sqlite {

Job read_job(Use& use, model::JobKind kind) {
  Job job;
  JobFacts& facts = job.facts;
  facts.kind = kind;
  job.seq = use.number<base::JobSeq>();
  facts.job_id = use.id<base::JobId>();
  facts.mission_id = use.id<base::MissionId>();
  facts.object_id = use.text();
  facts.vault_path = use.text();
  facts.commit = use.text();
  facts.provenance_hash = use.hash();
  facts.expected_state = use.text();
  facts.created_at = use.time();
  facts.idempotency_key = use.id<base::IdempotencyKey>();
  facts.delete_request_id = use.id_or_null<base::DeleteRequestId>();
  facts.approval_id = use.id_or_null<base::ApprovalId>();
  job.job_sha256 = use.hash();
  job.take = use.number<base::TakeNumber>();
  job.name_created_us = use.integer();
  job.owner_uid = static_cast<std::uint32_t>(use.integer());
  job.admitted_at = use.time();
  job.follows = use.number_or_null<base::JobSeq>();
  job.deadline_at = use.time();
  job.revision = use.integer();
  job.state = use.state();
  job.state_since = use.time();
  job.behind = use.number_or_null<base::JobSeq>();
  job.suspect = use.flag();
  job.solo = use.flag();
  job.claim_deaths = static_cast<int>(use.integer());
  job.binding = use.text_or_null();
  job.worker_id = use.id_or_null<base::WorkerId>();
  job.claim_id = use.id_or_null<base::ClaimId>();
  job.epoch = use.number_or_null<base::Epoch>().value_or(base::Epoch{});
  job.fence = use.number_or_null<base::Fence>().value_or(base::Fence{});
  job.attempts = static_cast<int>(use.integer());
  job.attempt_count = static_cast<int>(use.integer());
  job.may_have_effect = use.flag();
  job.not_before = use.time_or_null();
  job.settle_until = use.time_or_null();
  job.reason = use.reason_or_null();
  job.result = use.result_or_null();
  job.finished_at = use.time_or_null();
  if (const auto status = use.integer_or_null()) job.evidence.http_status = static_cast<int>(*status);
  job.evidence.expected_sha256 = use.hash_or_null();
  job.evidence.observed_sha256 = use.hash_or_null();
  job.evidence.detail = use.text_or_null();
  job.last_audit = use.number<base::AuditSeq>();
  job.end_audit = use.number_or_null<base::AuditSeq>();
  // Of the last attempt, where there is one.
  job.attempt_id = use.id_or_null<base::AttemptId>();
  job.effect = use.integer_or_null();
  job.effect_key = use.hash_or_null();
  job.content_sha256 = use.hash_or_null();
  job.repetition = static_cast<int>(use.integer_or_null().value_or(0));
  return job;
}

base::Result<std::optional<Job>> load_job(Statements& sql, model::JobKind kind, base::JobSeq seq) {
  Use use(sql.load_job);
  if (!INTRAY_TRY(use.bind(seq).next())) return std::nullopt;
  Job job = read_job(use, kind);
  job.job_bytes = use.integer_or_null().value_or(0);  // a column that this statement alone has
  INTRAY_TRY(use.intact());
  return job;
}

AuditRow row_of(const Work& work, const Job& job, std::string_view event) {
  AuditRow row;
  row.at = work.now;
  row.event = event;
  row.job_id = job.facts.job_id;
  row.mission_id = job.facts.mission_id;
  row.job_type = model::job_type_of(work.kind);
  row.object_id = job.facts.object_id;
  row.worker_id = work.held.connector_id;
  row.claim_id = job.claim_id;
  row.epoch = work.held.epoch;
  if (job.claim_id) row.fence = job.fence;
  row.approval_id = job.facts.approval_id;
  row.provenance_hash = job.facts.provenance_hash;
  return row;
}

AuditRow move_of(const Work& work, const Job& job, std::string_view event, const model::Edge& edge) {
  AuditRow row = row_of(work, job, event);
  row.from_state = edge.from;
  row.to_state = edge.to;
  row.row = edge.row;
  return row;
}

base::Result<base::Sha256> record(Work& work, Job& job, AuditRow& row) {
  INTRAY_TRY(append(work.sql.insert_audit, work.audit, row, job.seq));
  job.last_audit = row.seq;
  return row.hash;
}

const model::Edge* edge_for(const Work& work, const Job& job, model::Event event, model::State to) {
  return model::find_edge(work.kind, job.state, event, to, job.attempts > 0, job.may_have_effect);
}

base::Result<void> record_refusal(Work& work, Job& job, model::State to) {
  AuditRow row = row_of(work, job, "TRANSITION_REFUSED");
  row.from_state = job.state;
  row.to_state = to;
  row.reason = model::Reason::kInvalidTransition;
  INTRAY_TRY(record(work, job, row));
  Use use(work.sql.touch_audit);
  return use.bind(job.last_audit).bind(job.seq).swap();
}

Ended ended_of(const Job& job, const EndMark& mark, Ended::From from) {
  Ended ended;
  model::Receipt& receipt = ended.receipt;
  receipt.job_id = job.facts.job_id;
  receipt.job_sha256 = job.job_sha256;
  receipt.kind = job.facts.kind;
  receipt.state = job.state;
  receipt.reason = job.reason;
  receipt.result = job.result.value_or(model::ResultWord::kUnknown);
  receipt.attempts = job.attempt_count;
  receipt.admitted_at = job.admitted_at;
  receipt.finished_at = job.finished_at.value_or(job.state_since);
  receipt.audit_seq = job.end_audit.value_or(job.last_audit);
  receipt.audit_hash = mark.hash;
  receipt.epoch = mark.epoch;
  receipt.worker_id = mark.worker_id;
  receipt.evidence = job.evidence;
  ended.seq = job.seq;
  ended.name_created_us = job.name_created_us;
  ended.owner_uid = job.owner_uid;
  ended.job_bytes = job.job_bytes;
  ended.from = from;
  return ended;
}

base::Result<Ended> ended_again(Statements& sql, const Job& job, Ended::From from) {
  Use use(sql.end_of_job);
  if (!job.end_audit || !INTRAY_TRY(use.bind(*job.end_audit).next())) {
    return base::fail(base::ErrorCode::kCorrupt,
                      "job " + job.facts.job_id.str() + ": the audit row of its end is missing");
  }
  EndMark mark;
  mark.hash = use.hash();
  mark.epoch = use.number<base::Epoch>();
  mark.worker_id = use.id<base::WorkerId>();
  INTRAY_TRY(use.intact());
  return ended_of(job, mark, from);
}

}  // namespace intray::ledger::sqlite
