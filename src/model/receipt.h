// Purpose:    receipts: one canonical JSON line per outcome, which is all a requester ever learns.
// Trust:      written by the executor; readers match job_id and job_sha256, so that a bad or conflicting file under
//             somebody's job id can't answer for that job. Holds no secret, no header, no response body.
// Thread use: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "model/reason.h"
#include "model/state.h"

namespace intray::model {

struct Evidence {
  std::optional<int> http_status;
  std::optional<base::Sha256> expected_sha256;  // where what was observed differs from what was meant
  std::optional<base::Sha256> observed_sha256;  // what the read-back found
  std::optional<std::string> detail;            // the rule that refused a file, escaped
};

struct Receipt {
  std::optional<base::JobId> job_id;       // null for a file that yields no trusted id
  std::optional<std::string> file_name;    // of such a file, escaped; absent otherwise
  std::optional<base::Sha256> job_sha256;  // of the file's bytes; null where it was never read
  JobKind kind = JobKind::kSave;
  State state = State::kRejected;
  std::optional<Reason> reason;
  ResultWord result = ResultWord::kRefused;
  int attempts = 0;
  base::WallTime admitted_at;
  base::WallTime finished_at;
  base::AuditSeq audit_seq;
  base::Sha256 audit_hash;
  base::Epoch epoch;
  base::WorkerId worker_id;
  Evidence evidence;
};

// One line without its newline.
std::string to_line(const Receipt& receipt);
// Strict: canonical, known version, exactly the members above; kCorrupt otherwise.
base::Result<Receipt> parse_receipt(std::string_view line);

}  // namespace intray::model
