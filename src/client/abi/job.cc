#include <mutex>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "client/abi/handles.h"
#include "model/canonical.h"
#include "model/effect.h"
#include "model/take_apart.h"

namespace intray::client::abi {
namespace {

using model::JobKind;

// Ids are drawn from a generator that must be started once.
void start_crypto() {
  static std::once_flag once;
  std::call_once(once, base::init_crypto);
}

std::optional<std::string> optional_text(const char* text) {
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

// Copies a required member; false where the caller left it out, which `error` is told.
bool take(std::string& out, const char* text, std::string_view name, intray_error** error) {
  if (text == nullptr) {
    fail(error, INTRAY_INVALID_ARGUMENT, std::string(name) + " is NULL and must be given");
    return false;
  }
  out = text;
  return true;
}

std::unique_ptr<intray_job> handle_of(Draft draft) {
  auto job = std::make_unique<intray_job>();
  job->id = draft.name.job_id.str();
  job->sha256 = base::sha256(draft.bytes).hex();
  job->file_name = draft.name.str();
  auto object = model::parse_canonical(draft.bytes);
  const model::TakenApart lets_go(object);
  for (const auto& [name, value] : object->items())  // checked before: an object
    if (value.is_string()) job->members.emplace_back(name, value.get<std::string>());
  job->draft = std::move(draft);
  return job;
}

int give(intray_job** out, Checked checked, intray_error** error) {
  if (!checked) return fail(error, checked.error());
  if (out != nullptr) *out = handle_of(std::move(*checked)).release();
  return INTRAY_OK;
}

int wrong_size(intray_error** error) {
  return fail(error, INTRAY_INVALID_ARGUMENT,
              "struct_size is not sizeof the struct, or it holds what is not known here");
}

int no_out(intray_error** error) { return fail(error, INTRAY_INVALID_ARGUMENT, "an argument is NULL"); }

}  // namespace

std::optional<model::JobKind> kind_of(int kind) {
  if (kind == INTRAY_SAVE) return JobKind::kSave;
  if (kind == INTRAY_DELETE) return JobKind::kDelete;
  return std::nullopt;
}

std::optional<Rules> rules_of(const intray_rules* given, model::JobKind kind, intray_error** error) {
  Rules out;
  out.job.kind = kind;
  out.now = base::SystemClock().wall();
  if (given == nullptr) return out;
  const auto rules = sized_copy(given);
  if (!rules) {
    wrong_size(error);
    return std::nullopt;
  }
  const auto refuse = [&](std::string_view what) {
    fail(error, INTRAY_INVALID_ARGUMENT, what);
    return std::nullopt;
  };
  if (rules->vault_root != nullptr) {
    out.job.vault_root = rules->vault_root;
    if (!out.job.vault_root.starts_with('/') || out.job.vault_root.ends_with('/'))
      return refuse("rules: vault_root is not absolute, or ends in a slash");
  }
  if (rules->extensions != nullptr) {
    out.job.extensions.clear();
    for (std::size_t i = 0; i < rules->extension_count; ++i) {
      if (rules->extensions[i] == nullptr) return refuse("rules: an extension is NULL");
      out.job.extensions.emplace_back(rules->extensions[i]);
    }
    if (out.job.extensions.empty()) return refuse("rules: no extension");
  } else if (rules->extension_count != 0) {
    return refuse("rules: extensions is NULL and extension_count is not 0");
  }
  if (rules->object_format != INTRAY_SHA1 && rules->object_format != INTRAY_SHA256)
    return refuse("rules: object_format is neither INTRAY_SHA1 nor INTRAY_SHA256");
  if (rules->object_format == INTRAY_SHA256) out.job.object_format = model::ObjectFormat::kSha256;
  if (rules->max_age_us < 0 || rules->now_us < 0) return refuse("rules: a time is negative");
  if (rules->max_age_us > 0) out.job.max_age = base::Micros{rules->max_age_us};
  if (rules->now_us > 0) out.now = base::from_us(rules->now_us);
  return out;
}

#pragma GCC visibility push(default)
extern "C" {

int intray_job_make_save(const intray_save_fields* fields, const intray_rules* rules, intray_job** job,
                         intray_error** error) {
  if (job != nullptr) *job = nullptr;
  return guarded(error, [&]() -> int {
    if (job == nullptr) return no_out(error);
    const auto given = sized_copy(fields);
    if (!given) return wrong_size(error);
    const auto judged_by = rules_of(rules, model::JobKind::kSave, error);
    if (!judged_by) return INTRAY_INVALID_ARGUMENT;
    client::SaveFields in;
    const bool all = take(in.object_id, given->object_id, "object_id", error) &&
                     take(in.vault_path, given->vault_path, "vault_path", error) &&
                     take(in.source_commit, given->source_commit, "source_commit", error) &&
                     take(in.provenance_hash, given->provenance_hash, "provenance_hash", error) &&
                     take(in.expected_state, given->expected_state, "expected_state", error);
    if (!all) return INTRAY_INVALID_ARGUMENT;
    in.job_id = optional_text(given->job_id);
    in.mission_id = optional_text(given->mission_id);
    in.created_at = optional_text(given->created_at);
    in.idempotency_key = optional_text(given->idempotency_key);
    start_crypto();
    return give(job, client::make(in, judged_by->job, judged_by->now), error);
  });
}

int intray_job_make_delete(const intray_delete_fields* fields, const intray_rules* rules, intray_job** job,
                           intray_error** error) {
  if (job != nullptr) *job = nullptr;
  return guarded(error, [&]() -> int {
    if (job == nullptr) return no_out(error);
    const auto given = sized_copy(fields);
    if (!given) return wrong_size(error);
    const auto judged_by = rules_of(rules, model::JobKind::kDelete, error);
    if (!judged_by) return INTRAY_INVALID_ARGUMENT;
    client::DeleteFields in;
    const bool all =
        take(in.mission_id, given->mission_id, "mission_id", error) &&
        take(in.delete_request_id, given->delete_request_id, "delete_request_id", error) &&
        take(in.object_id, given->object_id, "object_id", error) &&
        take(in.vault_path, given->vault_path, "vault_path", error) &&
        take(in.expected_commit, given->expected_commit, "expected_commit", error) &&
        take(in.expected_provenance_hash, given->expected_provenance_hash, "expected_provenance_hash", error) &&
        take(in.approval_id, given->approval_id, "approval_id", error);
    if (!all) return INTRAY_INVALID_ARGUMENT;
    in.job_id = optional_text(given->job_id);
    in.created_at = optional_text(given->created_at);
    in.idempotency_key = optional_text(given->idempotency_key);
    start_crypto();
    return give(job, client::make(in, judged_by->job, judged_by->now), error);
  });
}

int intray_job_parse(int kind, const char* bytes, size_t size, const intray_rules* rules, intray_job** job,
                     intray_error** error) {
  if (job != nullptr) *job = nullptr;
  return guarded(error, [&]() -> int {
    const auto of = kind_of(kind);
    if (!of || (bytes == nullptr && size != 0))
      return fail(error, INTRAY_INVALID_ARGUMENT, "an unknown kind, or bytes that are NULL");
    const auto judged_by = rules_of(rules, *of, error);
    if (!judged_by) return INTRAY_INVALID_ARGUMENT;
    const std::string_view text = size == 0 ? std::string_view() : std::string_view(bytes, size);
    return give(job, client::check(text, judged_by->job, judged_by->now), error);
  });
}

int intray_job_canonicalize(const char* text, size_t size, const intray_rules* rules, intray_job** job,
                            intray_error** error) {
  if (job != nullptr) *job = nullptr;
  return guarded(error, [&]() -> int {
    if (job == nullptr || (text == nullptr && size != 0)) return no_out(error);
    const auto save_rules = rules_of(rules, model::JobKind::kSave, error);
    if (!save_rules) return INTRAY_INVALID_ARGUMENT;
    auto delete_rules = save_rules->job;
    delete_rules.kind = model::JobKind::kDelete;
    if (size > client::kJobTextBytesMax)
      return fail(error, model::Rejection{model::Reason::kOversized,
                                          "more than " + std::to_string(client::kJobTextBytesMax) + " bytes",
                                          {}});
    start_crypto();
    client::Reading read = client::read_text(size == 0 ? std::string_view() : std::string_view(text, size),
                                             save_rules->job, delete_rules, save_rules->now);
    if (read.rejection) return fail(error, *read.rejection);
    return give(job, *std::move(read.job), error);
  });
}

int intray_job_kind(const intray_job* job) {
  return job->draft.kind == model::JobKind::kSave ? INTRAY_SAVE : INTRAY_DELETE;
}
const char* intray_job_bytes(const intray_job* job, size_t* size) {
  if (size != nullptr) *size = job->draft.bytes.size();
  return job->draft.bytes.c_str();
}
const char* intray_job_id(const intray_job* job) { return job->id.c_str(); }
const char* intray_job_sha256(const intray_job* job) { return job->sha256.c_str(); }
const char* intray_job_file_name(const intray_job* job) { return job->file_name.c_str(); }
const char* intray_job_member(const intray_job* job, const char* name) {
  if (name == nullptr) return nullptr;
  for (const auto& [known, value] : job->members)
    if (known == name) return value.c_str();
  return nullptr;
}
void intray_job_free(intray_job* job) {
  delete job;  // NOLINT(cppcoreguidelines-owning-memory): a handle's owner is the caller
}

int intray_object_id_of_path(const char* repository_path, char out[35], intray_error** error) {
  return guarded(error, [&]() -> int {
    if (repository_path == nullptr || out == nullptr) return no_out(error);
    const std::string id = model::object_id_from_path(repository_path);
    out[id.copy(out, 34)] = '\0';
    return INTRAY_OK;
  });
}

int intray_provenance_hash(const char* commit, const void* content, size_t content_size, const char* object_id,
                           const char* repository_path, const char* state, char out[65], intray_error** error) {
  return guarded(error, [&]() -> int {
    if (commit == nullptr || object_id == nullptr || repository_path == nullptr || state == nullptr || out == nullptr ||
        (content == nullptr && content_size != 0))
      return no_out(error);
    for (const char* text : {commit, object_id, repository_path, state})
      if (!base::is_utf8(text)) return fail(error, model::Rejection{model::Reason::kBadValue, "not UTF-8", {}});
    const std::string_view bytes =
        content_size == 0 ? std::string_view() : std::string_view(static_cast<const char*>(content), content_size);
    const std::string hex =
        model::provenance_hash(commit, base::sha256(bytes), object_id, repository_path, state).hex();
    out[hex.copy(out, hex.size())] = '\0';
    return INTRAY_OK;
  });
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace intray::client::abi
