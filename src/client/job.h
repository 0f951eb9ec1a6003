// Purpose:    jobs as a requester makes and checks them before it hands them over.
// Process:    the requester: intray submit, the client library.
// Trust:      fields and texts are the caller's; nothing that is made here is believed by an executor, it only spares a
//             refusal later. Judged by the executor's own code (model/job.h), so with the executor's reasons.
// Thread use: pure, but for ids that are drawn (base::init_crypto() first).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "inbox/handoff.h"
#include "inbox/names.h"
#include "limits.h"
#include "model/job.h"

namespace intray::client {

// A job's canonical bytes, and the name under which they are handed over. The name follows from the job, so that
// handing it over twice meets its own name.
struct Draft {
  model::JobKind kind = model::JobKind::kSave;
  inbox::JobName name;
  std::string bytes;
};

// Members as text. What is absent is drawn (ids, keys) or taken from the clock (created_at).
struct SaveFields {
  std::optional<std::string> job_id;
  std::optional<std::string> mission_id;
  std::string object_id;
  std::string vault_path;
  std::string source_commit;
  std::string provenance_hash;
  std::string expected_state;
  std::optional<std::string> created_at;
  std::optional<std::string> idempotency_key;
};

// What the approval names must be given: drawn ids would fit none.
struct DeleteFields {
  std::optional<std::string> job_id;
  std::string mission_id;
  std::string delete_request_id;
  std::string object_id;
  std::string vault_path;
  std::string expected_commit;
  std::string expected_provenance_hash;
  std::string approval_id;
  std::optional<std::string> created_at;
  std::optional<std::string> idempotency_key;
};

using Checked = std::expected<Draft, model::Rejection>;

// Judges finished bytes: every rule of the contract (model::parse_save_job) for the kind of `rules`, then the two that
// need the clock.
Checked check(std::string_view bytes, const model::JobRules& rules, base::WallTime now);

// The job with these members, judged the same way. A field that is no UTF-8 is BAD_VALUE.
Checked make(const SaveFields& fields, const model::JobRules& rules, base::WallTime now);
Checked make(const DeleteFields& fields, const model::JobRules& rules, base::WallTime now);

// The text may be pretty-printed; its canonical form must keep to the contract's limit.
inline constexpr std::size_t kJobTextBytesMax = 4 * limits::kJobFileBytesMax;

// A job's text in any strict JSON form, made canonical and judged by the contract of the kind that its own type names.
struct Reading {
  std::optional<Draft> job;                   // nullopt: can't be written canonically
  std::optional<model::Rejection> rejection;  // why the executor would refuse it
};
Reading read_text(std::string_view text, const model::JobRules& save_rules, const model::JobRules& delete_rules,
                  base::WallTime now);

}  // namespace intray::client
