#include "client/job.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"
#include "model/canonical.h"
#include "model/canonical_writer.h"
#include "model/take_apart.h"

namespace intray::client {
namespace {

using model::JobKind;
using model::Rejection;

constexpr int kJobVersion = 1;
constexpr std::size_t kJobBytesExpected = 2048;

template <class Job>
Checked judged(const std::expected<Job, Rejection>& parsed, std::string_view bytes, const model::JobRules& rules,
               base::WallTime now) {
  if (!parsed) return std::unexpected(parsed.error());
  if (auto aged = model::check_age(parsed->created_at, now, rules)) {
    aged->job_id = parsed->job_id;
    return std::unexpected(*std::move(aged));
  }
  return Draft{.kind = rules.kind, .name = {parsed->created_at, parsed->job_id}, .bytes = std::string(bytes)};
}

using Member = std::pair<std::string_view, std::string_view>;

// Members in sorted order, job_version among them by its name alone.
Checked written(std::initializer_list<Member> members, const model::JobRules& rules, base::WallTime now) {
  model::CanonicalWriter out(kJobBytesExpected);
  for (const auto& [name, value] : members) {
    if (name == "job_version") {
      out.number(name, kJobVersion);
      continue;
    }
    if (!base::is_utf8(value) || value.contains('\0'))
      return std::unexpected(Rejection{model::Reason::kBadValue, std::string(name) + ": not UTF-8, or holds NUL", {}});
    out.text(name, value);
  }
  return check(out.finish(), rules, now);
}

template <class Id>
std::string given_or_drawn(const std::optional<std::string>& given) {
  return given ? *given : Id::generate().str();
}

std::string text_member(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

}  // namespace

Checked check(std::string_view bytes, const model::JobRules& rules, base::WallTime now) {
  return rules.kind == JobKind::kSave ? judged(model::parse_save_job(bytes, rules), bytes, rules, now)
                                      : judged(model::parse_delete_job(bytes, rules), bytes, rules, now);
}

Checked make(const SaveFields& fields, const model::JobRules& rules, base::WallTime now) {
  const std::string created_at = fields.created_at.value_or(base::format_rfc3339(now));
  const std::string key = given_or_drawn<base::IdempotencyKey>(fields.idempotency_key);
  const std::string job_id = given_or_drawn<base::JobId>(fields.job_id);
  const std::string mission_id = given_or_drawn<base::MissionId>(fields.mission_id);
  return written({{"created_at", created_at},
                  {"expected_state", fields.expected_state},
                  {"idempotency_key", key},
                  {"job_id", job_id},
                  {"job_type", model::job_type_of(JobKind::kSave)},
                  {"job_version", {}},
                  {"mission_id", mission_id},
                  {"object_id", fields.object_id},
                  {"provenance_hash", fields.provenance_hash},
                  {"source_commit", fields.source_commit},
                  {"vault_path", fields.vault_path}},
                 rules, now);
}

Checked make(const DeleteFields& fields, const model::JobRules& rules, base::WallTime now) {
  const std::string created_at = fields.created_at.value_or(base::format_rfc3339(now));
  const std::string key = given_or_drawn<base::IdempotencyKey>(fields.idempotency_key);
  const std::string job_id = given_or_drawn<base::JobId>(fields.job_id);
  return written({{"approval_id", fields.approval_id},
                  {"created_at", created_at},
                  {"delete_request_id", fields.delete_request_id},
                  {"expected_commit", fields.expected_commit},
                  {"expected_provenance_hash", fields.expected_provenance_hash},
                  {"idempotency_key", key},
                  {"job_id", job_id},
                  {"job_type", model::job_type_of(JobKind::kDelete)},
                  {"job_version", {}},
                  {"mission_id", fields.mission_id},
                  {"object_id", fields.object_id},
                  {"vault_path", fields.vault_path}},
                 rules, now);
}

Reading read_text(std::string_view text, const model::JobRules& save_rules, const model::JobRules& delete_rules,
                  base::WallTime now) {
  Reading out;
  auto parsed = model::parse_strict(text);
  const model::TakenApart lets_go(parsed);
  if (!parsed) {
    out.rejection = Rejection{parsed.error().reason, parsed.error().detail, std::nullopt};
    return out;
  }
  Draft job{.kind = JobKind::kSave, .name = {now, base::JobId::generate()}, .bytes = model::to_canonical(*parsed)};
  if (const auto id = base::JobId::parse(text_member(*parsed, "job_id"))) job.name.job_id = *id;
  if (const auto created = base::parse_rfc3339(text_member(*parsed, "created_at"))) job.name.created = *created;
  if (text_member(*parsed, "job_type") == model::job_type_of(JobKind::kDelete)) job.kind = JobKind::kDelete;
  if (auto checked = check(job.bytes, job.kind == JobKind::kSave ? save_rules : delete_rules, now); !checked)
    out.rejection = std::move(checked).error();
  out.job = std::move(job);
  return out;
}

}  // namespace intray::client
