#include "ledger/sqlite/receipts.h"

#include "ledger/sqlite/admission.h"

namespace intray::ledger::sqlite {
namespace {

struct Due {
  base::AuditSeq audit;
  std::optional<base::JobSeq> job;
  bool duplicate = false;
};

base::Result<std::optional<Ended>> rebuild(Statements& sql, model::JobKind kind, const Due& due) {
  if (!due.job) {
    Use use(sql.file_by_audit);
    if (!INTRAY_TRY(use.bind(due.audit).next())) {
      return base::fail(base::ErrorCode::kCorrupt,
                        "files: the row of audit " + std::to_string(due.audit.value) + " is missing");
    }
    const RejectedFile file = read_rejected_file(use);
    INTRAY_TRY(use.intact());
    return ended_of(file, kind);
  }
  const auto job = INTRAY_TRY(load_job(sql, kind, *due.job));
  if (!job) return base::fail(base::ErrorCode::kCorrupt, "jobs: a row vanished");
  // A duplicate is answered only where the job had ended; an end that a resolution replaced has a later row of its own.
  if (due.duplicate) {
    if (!job->end_audit || *job->end_audit > due.audit) return std::nullopt;
    return INTRAY_TRY(ended_again(sql, *job, Ended::From::kNowhere));
  }
  if (job->end_audit != due.audit) return std::nullopt;
  return INTRAY_TRY(ended_again(sql, *job, Ended::From::kLease));
}

}  // namespace

base::Result<std::vector<Ended>> ends_without_receipt(Statements& sql, model::JobKind kind, const std::string& binding,
                                                      std::size_t max) {
  base::AuditSeq through;
  {
    Use use(sql.receipts_through);
    if (INTRAY_TRY(use.bind(binding).next())) through = use.number<base::AuditSeq>();
  }
  std::vector<Ended> ends;
  Use use(sql.ends_after);
  use.bind(through).bind(binding);
  while (ends.size() < max && INTRAY_TRY(use.next())) {
    Due due;
    due.audit = use.number<base::AuditSeq>();
    due.job = use.number_or_null<base::JobSeq>();
    due.duplicate = use.text() == "DUPLICATE";
    INTRAY_TRY(use.intact());
    if (auto ended = INTRAY_TRY(rebuild(sql, kind, due))) ends.push_back(std::move(*ended));
  }
  return ends;
}

}  // namespace intray::ledger::sqlite
