// Purpose:    what becomes of a file that was taken: a job, a follower, a duplicate, or a rejection (J01, J02, J03).
// Trust:      facts passed the contract; identity and idempotency are judged here, against everything ever admitted.
// Thread use: one thread.
// Durability: part of the caller's transaction. A file known by its take number (admitted, then a crash before it was
//             moved) is answered as it was, without a second row.
#pragma once

#include "base/result.h"
#include "ledger/sqlite/work.h"

namespace intray::ledger::sqlite {

base::Result<Admitted> admit(Work& work, const Admit& file);

// A row of files with the hash of its audit row: columns in the order of sql/file_by_take.sql.
struct RejectedFile {
  base::AuditSeq audit;
  base::TakeNumber take;
  std::string name;  // escaped
  std::int64_t name_created_us = 0;
  std::uint32_t owner_uid = 0;
  base::WallTime taken_at;
  base::WallTime rejected_at;
  std::optional<base::Sha256> sha256;
  std::optional<base::JobId> job_id;
  model::Reason reason = model::Reason::kMalformedJson;
  std::string detail;
  base::Epoch epoch;
  base::WorkerId worker_id;
  base::Sha256 audit_hash;
};
RejectedFile read_rejected_file(Use& use);
// What the receipt of such a file says.
Ended ended_of(const RejectedFile& file, model::JobKind kind);

}  // namespace intray::ledger::sqlite
