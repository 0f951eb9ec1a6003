// Purpose:    the two job contracts: what a job file's bytes must be, and the typed job they become.
// Trust:      input is hostile. Parsing is bounded in time and memory by the input's length, which the caller bounds
//             (limits::kJobFileBytesMax). After a success every field has passed every rule that needs no other source.
// Thread use: pure.
//
// A job file must be exactly the RFC 8785 (JCS) form of the object it holds. Two closed types, compiled in; an executor
// knows its own, and the other's type is as unknown to it as any other string.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "model/reason.h"
#include "model/state.h"

namespace intray::model {

enum class ObjectFormat { kSha1, kSha256 };  // git.object_format: commit ids have 40 or 64 digits

// What the site's configuration adds to the contract's own rules.
struct JobRules {
  JobKind kind = JobKind::kSave;
  ObjectFormat object_format = ObjectFormat::kSha1;
  std::string vault_root = "/app/vault";              // without a trailing slash
  std::vector<std::string> extensions = {".md"};      // a path must end in one of them
  base::Micros max_age = std::chrono::hours{24 * 7};  // job.max_age
};

// SAVE, C5_SAVE_OBJECT: exactly 11 members.
struct SaveJob {
  base::JobId job_id;
  base::MissionId mission_id;
  std::string object_id;
  std::string vault_path;     // absolute, with the vault root
  std::string source_commit;  // lower-case hex
  base::Sha256 provenance_hash;
  std::string expected_state;
  base::WallTime created_at;
  std::string created_at_text;  // as written: the canonical bytes hold it
  base::IdempotencyKey idempotency_key;
};

// DELETE, C5_DELETE_OBJECT: exactly 12 members.
struct DeleteJob {
  base::JobId job_id;
  base::MissionId mission_id;
  base::DeleteRequestId delete_request_id;
  std::string object_id;
  std::string vault_path;
  std::string expected_commit;
  base::Sha256 expected_provenance_hash;
  base::ApprovalId approval_id;
  base::WallTime created_at;
  std::string created_at_text;
  base::IdempotencyKey idempotency_key;
};

// Why bytes are no job. `detail` names the rule, the member and the place, quotes at most a short escaped excerpt.
// `job_id` is set only where the bytes are canonical and hold a valid job_id, so that a receipt can name it.
struct Rejection {
  Reason reason;
  std::string detail;
  std::optional<base::JobId> job_id;
};

// Every rule of the contract but the two that need a clock. The order of checks is fixed: size and emptiness, JSON,
// canonical form, object shape, version, type, members, field values, path.
std::expected<SaveJob, Rejection> parse_save_job(std::string_view bytes, const JobRules& rules);
std::expected<DeleteJob, Rejection> parse_delete_job(std::string_view bytes, const JobRules& rules);

// CREATED_IN_FUTURE and JOB_TOO_OLD, judged once, at admission. nullopt: the age is fine.
std::optional<Rejection> check_age(base::WallTime created_at, base::WallTime now, const JobRules& rules);

// The canonical bytes of a job (what a requester hands over).
std::string to_canonical(const SaveJob& job);
std::string to_canonical(const DeleteJob& job);

// Equal in every member but job_id and created_at: the second of two jobs with one idempotency key is a replay.
// Both must be canonical bytes of jobs of the same kind.
bool same_request(std::string_view canonical_a, std::string_view canonical_b);

// Field rules, for tools and other modules.
bool is_object_id(std::string_view text);
bool is_state_word(std::string_view text);
bool is_commit_id(std::string_view text, ObjectFormat format);

}  // namespace intray::model
