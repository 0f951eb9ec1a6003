// Purpose:    jobs: made from fields, or checked as bytes, before they are handed over.
// Process:    a requester's.
// Trust:      spares a refusal later; the executor checks all of it again and believes nothing.
// Thread use: a Job doesn't change; any number of threads may read it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "error.h"

namespace intray {

enum class Kind { kSave = INTRAY_SAVE, kDelete = INTRAY_DELETE };
enum class ObjectFormat { kSha1 = INTRAY_SHA1, kSha256 = INTRAY_SHA256 };

// What a site's settings (save.toml(5)) add to the contract. All are checked: a wrong one is kInvalidArgument.
struct Rules {
  std::string vault_root = "/app/vault";  // absolute, without a slash at its end
  std::vector<std::string> extensions = {".md"};
  ObjectFormat object_format = ObjectFormat::kSha1;
  std::chrono::microseconds max_age = std::chrono::hours(24 * 7);  // job.max_age; more than 0
  std::optional<std::chrono::system_clock::time_point> now;        // nullopt: the system's clock
};

// Members of a SAVE job. What is optional and absent is drawn (ids, keys) or taken from the clock (created_at).
struct SaveFields {
  std::string object_id;
  std::string vault_path;  // absolute, with the vault root
  std::string source_commit;
  std::string provenance_hash;  // provenance_hash() below
  std::string expected_state;   // "UNSET" where the note's front matter names none
  std::optional<std::string> job_id;
  std::optional<std::string> mission_id;
  std::optional<std::string> created_at;  // RFC 3339, UTC
  std::optional<std::string> idempotency_key;
};

// The same of a DELETE job: what is not optional must be what the signed approval says.
struct DeleteFields {
  std::string mission_id;
  std::string delete_request_id;
  std::string object_id;
  std::string vault_path;
  std::string expected_commit;
  std::string expected_provenance_hash;
  std::string approval_id;
  std::optional<std::string> job_id;
  std::optional<std::string> created_at;
  std::optional<std::string> idempotency_key;
};

// A job that passed every check which needs neither git nor the ledger. Copies share it.
class Job {
 public:
  // kRefused: a field breaks a rule; the reason is the executor's. A field that holds NUL is BAD_VALUE, as it is there.
  static Result<Job> make(const SaveFields& fields, const Rules& rules = Rules());
  static Result<Job> make(const DeleteFields& fields, const Rules& rules = Rules());
  // Finished bytes, meant for the inbox of this kind; judged in the executor's order, with its reasons.
  static Result<Job> parse(Kind kind, std::string_view bytes, const Rules& rules = Rules());
  // The same for a job's text in any strict JSON form, which is made canonical first.
  static Result<Job> canonicalize(std::string_view text, const Rules& rules = Rules());

  Kind kind() const { return static_cast<Kind>(intray_job_kind(job_.get())); }
  // The canonical bytes. All views live as long as the job or a copy of it.
  std::string_view bytes() const {
    std::size_t size = 0;
    const char* const bytes = intray_job_bytes(job_.get(), &size);
    return std::string_view(bytes, size);
  }
  std::string_view id() const { return intray_job_id(job_.get()); }
  std::string_view sha256() const { return intray_job_sha256(job_.get()); }
  std::string_view file_name() const { return intray_job_file_name(job_.get()); }
  std::optional<std::string_view> member(const std::string& name) const {
    const char* const value = intray_job_member(job_.get(), name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
  }

  // For calls of intray.h: the job stays this one's.
  const intray_job* handle() const { return job_.get(); }

 private:
  explicit Job(intray_job* job) : job_(job, intray_job_free) {}
  static Result<Job> taken(int code, intray_job* job, intray_error* error) {
    if (code == INTRAY_OK) return Job(job);
    return detail::take_error(code, error);
  }
  std::shared_ptr<const intray_job> job_;
};

// provenance_hash of a note: `content` as git has it, `repository_path` in the repository (not below the vault root).
inline Result<std::string> provenance_hash(const std::string& commit, std::string_view content,
                                           const std::string& object_id, const std::string& repository_path,
                                           const std::string& state);

// object_id of a note that names none itself, from its path in the repository.
inline Result<std::string> object_id_of_path(const std::string& repository_path);

namespace detail {

// intray_rules that borrow from a Rules.
class BorrowedRules {
 public:
  explicit BorrowedRules(const Rules& rules) {
    for (const std::string& extension : rules.extensions) extensions_.push_back(extension.c_str());
    rules_.struct_size = sizeof rules_;
    rules_.vault_root = rules.vault_root.c_str();
    static const char* const none = nullptr;  // no extension at all is said, not taken for the default
    rules_.extensions = extensions_.empty() ? &none : extensions_.data();
    rules_.extension_count = extensions_.size();
    rules_.object_format = static_cast<int64_t>(rules.object_format);
    rules_.max_age_us = rules.max_age.count();
    if (rules.now)
      rules_.now_us = std::chrono::duration_cast<std::chrono::microseconds>(rules.now->time_since_epoch()).count();
  }
  BorrowedRules(const BorrowedRules&) = delete;
  BorrowedRules& operator=(const BorrowedRules&) = delete;
  const intray_rules* get() const { return &rules_; }

 private:
  std::vector<const char*> extensions_;
  intray_rules rules_ = {};
};

// A C string ends at a NUL, and what follows would be lost without a word.
class Borrower {
 public:
  const char* operator()(const std::string& text) {
    holds_nul = holds_nul || text.find('\0') != std::string::npos;
    return text.c_str();
  }
  const char* operator()(const std::optional<std::string>& text) { return text ? (*this)(*text) : nullptr; }
  bool holds_nul = false;
};

inline Error nul_in_field() {
  Error error;
  error.code = Code::kRefused;
  error.reason = "BAD_VALUE";
  error.message = "a field holds NUL";
  return error;
}

}  // namespace detail

inline Result<Job> Job::make(const SaveFields& fields, const Rules& rules) {
  detail::Borrower borrow;
  intray_save_fields given = {};
  given.struct_size = sizeof given;
  given.job_id = borrow(fields.job_id);
  given.mission_id = borrow(fields.mission_id);
  given.object_id = borrow(fields.object_id);
  given.vault_path = borrow(fields.vault_path);
  given.source_commit = borrow(fields.source_commit);
  given.provenance_hash = borrow(fields.provenance_hash);
  given.expected_state = borrow(fields.expected_state);
  given.created_at = borrow(fields.created_at);
  given.idempotency_key = borrow(fields.idempotency_key);
  if (borrow.holds_nul) return detail::nul_in_field();
  intray_job* job = nullptr;
  intray_error* error = nullptr;
  const int code = intray_job_make_save(&given, detail::BorrowedRules(rules).get(), &job, &error);
  return taken(code, job, error);
}

inline Result<Job> Job::make(const DeleteFields& fields, const Rules& rules) {
  detail::Borrower borrow;
  intray_delete_fields given = {};
  given.struct_size = sizeof given;
  given.job_id = borrow(fields.job_id);
  given.mission_id = borrow(fields.mission_id);
  given.delete_request_id = borrow(fields.delete_request_id);
  given.object_id = borrow(fields.object_id);
  given.vault_path = borrow(fields.vault_path);
  given.expected_commit = borrow(fields.expected_commit);
  given.expected_provenance_hash = borrow(fields.expected_provenance_hash);
  given.approval_id = borrow(fields.approval_id);
  given.created_at = borrow(fields.created_at);
  given.idempotency_key = borrow(fields.idempotency_key);
  if (borrow.holds_nul) return detail::nul_in_field();
  intray_job* job = nullptr;
  intray_error* error = nullptr;
  const int code = intray_job_make_delete(&given, detail::BorrowedRules(rules).get(), &job, &error);
  return taken(code, job, error);
}

inline Result<Job> Job::parse(Kind kind, std::string_view bytes, const Rules& rules) {
  intray_job* job = nullptr;
  intray_error* error = nullptr;
  const int code = intray_job_parse(static_cast<int>(kind), bytes.data(), bytes.size(),
                                    detail::BorrowedRules(rules).get(), &job, &error);
  return taken(code, job, error);
}

inline Result<Job> Job::canonicalize(std::string_view text, const Rules& rules) {
  intray_job* job = nullptr;
  intray_error* error = nullptr;
  const int code = intray_job_canonicalize(text.data(), text.size(), detail::BorrowedRules(rules).get(), &job, &error);
  return taken(code, job, error);
}

inline Result<std::string> provenance_hash(const std::string& commit, std::string_view content,
                                           const std::string& object_id, const std::string& repository_path,
                                           const std::string& state) {
  detail::Borrower borrow;
  char out[65];
  intray_error* error = nullptr;
  const int code = intray_provenance_hash(borrow(commit), content.data(), content.size(), borrow(object_id),
                                          borrow(repository_path), borrow(state), out, &error);
  if (borrow.holds_nul) {
    intray_error_free(error);
    return detail::nul_in_field();
  }
  if (code != INTRAY_OK) return detail::take_error(code, error);
  return std::string(out);
}

inline Result<std::string> object_id_of_path(const std::string& repository_path) {
  detail::Borrower borrow;
  char out[35];
  intray_error* error = nullptr;
  const int code = intray_object_id_of_path(borrow(repository_path), out, &error);
  if (code != INTRAY_OK) return detail::take_error(code, error);
  if (borrow.holds_nul) return detail::nul_in_field();
  return std::string(out);
}

}  // namespace intray
