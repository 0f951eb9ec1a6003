#include "model/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "limits.h"
#include "model/canonical.h"
#include "model/canonical_writer.h"
#include "model/excerpt.h"
#include "model/take_apart.h"
#include "model/vault_path.h"

namespace intray::model {
namespace {

using Json = nlohmann::json;

constexpr int kJobVersion = 1;
constexpr std::size_t kJobBytesExpected = 2048;

// In the contract's order, which is also the order in which values are judged. All but job_version are strings.
constexpr std::array<std::string_view, 11> kSaveMembers = {
    "job_version",   "job_id",          "mission_id",     "job_type",   "object_id",      "vault_path",
    "source_commit", "provenance_hash", "expected_state", "created_at", "idempotency_key"};
constexpr std::array<std::string_view, 12> kDeleteMembers = {
    "job_version", "job_id",         "mission_id",      "delete_request_id",        "job_type",
    "object_id",   "vault_path",     "expected_commit", "expected_provenance_hash", "approval_id",
    "created_at",  "idempotency_key"};

// Judges one job object; the first refusal stays, and every later step is skipped by its caller.
class Judge {
 public:
  explicit Judge(const JobRules& rules) : rules_(rules) {}
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;
  ~Judge() { take_apart(object_); }

  // Size to members: after a true `text()` may be asked for any member of the kind.
  bool admit(std::string_view bytes) {
    if (bytes.empty()) return refuse(Reason::kEmptyFile, "the file is empty");
    if (bytes.size() > limits::kJobFileBytesMax)
      return refuse(Reason::kOversized, fmt::format("more than {} bytes", limits::kJobFileBytesMax));
    auto parsed = parse_canonical(bytes);
    if (!parsed) return refuse(parsed.error().reason, std::move(parsed.error().detail));
    object_ = std::move(*parsed);
    if (!object_.is_object()) return refuse(Reason::kBadType, "the job is not an object");
    remember_job_id();
    return version() && type() && members();
  }

  template <class T>
  bool read(T& out, std::string_view name) {
    const auto parsed = T::parse(text(name));
    if (!parsed) return bad_value(name, std::is_same_v<T, base::Sha256> ? kHashRule : kUuidRule);
    out = *parsed;
    return true;
  }
  bool read_object_id(std::string& out) {
    return is_object_id(text("object_id")) ? take(out, "object_id") : bad_value("object_id", kObjectIdRule);
  }
  bool read_state(std::string& out) {
    return is_state_word(text("expected_state")) ? take(out, "expected_state")
                                                 : bad_value("expected_state", kStateRule);
  }
  bool read_commit(std::string& out, std::string_view name) {
    if (is_commit_id(text(name), rules_.object_format)) return take(out, name);
    return bad_value(name, rules_.object_format == ObjectFormat::kSha1 ? "not 40 lower-case hex digits, or all zero"
                                                                       : "not 64 lower-case hex digits, or all zero");
  }
  bool read_created_at(base::WallTime& at, std::string& as_written) {
    const auto parsed = base::parse_rfc3339(text("created_at"));
    if (!parsed) return bad_value("created_at", "not a UTC time as in RFC 3339 with T, Z and at most 6 digits");
    at = *parsed;
    return take(as_written, "created_at");
  }
  bool read_vault_path(std::string& out) {
    if (auto rule = unsafe_path_rule(text("vault_path"), rules_.vault_root, rules_.extensions))
      return refuse(Reason::kUnsafePath, fmt::format("vault_path: {}", *rule));
    return take(out, "vault_path");
  }

  Rejection rejection() { return std::move(rejection_); }

 private:
  static constexpr std::string_view kUuidRule = "not a lower-case UUID of version 4";
  static constexpr std::string_view kHashRule = "not 64 lower-case hex digits";
  static constexpr std::string_view kObjectIdRule = "not 1 to 128 of A-Z a-z 0-9 . _ : - with a letter or digit first";
  static constexpr std::string_view kStateRule = "not 1 to 64 of A-Z a-z 0-9 blank _ - with a letter or digit first";

  bool refuse(Reason reason, std::string detail) {
    rejection_.reason = reason;
    rejection_.detail = std::move(detail);
    return false;
  }
  bool bad_value(std::string_view name, std::string_view rule) {
    return refuse(Reason::kBadValue, fmt::format("{}: {} is {}", name, excerpt(text(name)), rule));
  }
  const std::string& text(std::string_view name) const { return object_.find(name)->get_ref<const std::string&>(); }
  bool take(std::string& out, std::string_view name) {
    out = text(name);
    return true;
  }

  void remember_job_id() {
    const auto found = object_.find("job_id");
    if (found != object_.end() && found->is_string())
      rejection_.job_id = base::JobId::parse(found->get_ref<const std::string&>());
  }
  bool version() {
    const auto found = object_.find("job_version");
    if (found == object_.end()) return refuse(Reason::kMissingMember, "member job_version is missing");
    if (!found->is_number_integer()) return refuse(Reason::kBadType, "job_version is not an integer");
    if (*found != kJobVersion)
      return refuse(Reason::kUnknownVersion, fmt::format("job_version is {}, not {}", found->dump(), kJobVersion));
    return true;
  }
  bool type() {
    const auto found = object_.find("job_type");
    if (found == object_.end()) return refuse(Reason::kMissingMember, "member job_type is missing");
    if (!found->is_string()) return refuse(Reason::kBadType, "job_type is not a string");
    const auto& word = found->get_ref<const std::string&>();
    if (word != job_type_of(rules_.kind))
      return refuse(Reason::kUnknownJobType,
                    fmt::format("job_type is {}, not {}", excerpt(word), job_type_of(rules_.kind)));
    return true;
  }
  bool members() {
    const std::span<const std::string_view> expected =
        rules_.kind == JobKind::kSave ? std::span<const std::string_view>(kSaveMembers) : kDeleteMembers;
    for (const auto& [name, value] : object_.items()) {
      if (std::ranges::find(expected, name) == expected.end())
        return refuse(Reason::kUnknownMember, fmt::format("unknown member {}", excerpt(name)));
    }
    for (const std::string_view name : expected)
      if (!object_.contains(name)) return refuse(Reason::kMissingMember, fmt::format("member {} is missing", name));
    for (const std::string_view name : expected) {
      if (name != "job_version" && !object_.find(name)->is_string())
        return refuse(Reason::kBadType, fmt::format("{} is not a string", name));
    }
    return true;
  }

  const JobRules& rules_;
  Json object_;
  Rejection rejection_{};
};

// ASCII only, whatever the locale says.
bool is_letter_or_digit(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_word(std::string_view text, std::size_t bytes_max, std::string_view also) {
  return !text.empty() && text.size() <= bytes_max && is_letter_or_digit(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || also.contains(c); });
}

}  // namespace

std::expected<SaveJob, Rejection> parse_save_job(std::string_view bytes, const JobRules& rules) {
  Judge judge(rules);
  SaveJob job;
  const bool good = judge.admit(bytes) && judge.read(job.job_id, "job_id") &&
                    judge.read(job.mission_id, "mission_id") && judge.read_object_id(job.object_id) &&
                    judge.read_commit(job.source_commit, "source_commit") &&
                    judge.read(job.provenance_hash, "provenance_hash") && judge.read_state(job.expected_state) &&
                    judge.read_created_at(job.created_at, job.created_at_text) &&
                    judge.read(job.idempotency_key, "idempotency_key") && judge.read_vault_path(job.vault_path);
  if (!good) return std::unexpected(judge.rejection());
  return job;
}

std::expected<DeleteJob, Rejection> parse_delete_job(std::string_view bytes, const JobRules& rules) {
  Judge judge(rules);
  DeleteJob job;
  const bool good =
      judge.admit(bytes) && judge.read(job.job_id, "job_id") && judge.read(job.mission_id, "mission_id") &&
      judge.read(job.delete_request_id, "delete_request_id") && judge.read_object_id(job.object_id) &&
      judge.read_commit(job.expected_commit, "expected_commit") &&
      judge.read(job.expected_provenance_hash, "expected_provenance_hash") &&
      judge.read(job.approval_id, "approval_id") && judge.read_created_at(job.created_at, job.created_at_text) &&
      judge.read(job.idempotency_key, "idempotency_key") && judge.read_vault_path(job.vault_path);
  if (!good) return std::unexpected(judge.rejection());
  return job;
}

std::optional<Rejection> check_age(base::WallTime created_at, base::WallTime now, const JobRules& rules) {
  const base::Micros ahead = created_at - now;
  if (ahead > base::Micros{limits::kCreatedAheadMax_us})
    return Rejection{Reason::kCreatedInFuture,
                     fmt::format("created_at {} is more than {} s ahead of {}", base::format_rfc3339(created_at),
                                 limits::kCreatedAheadMax_us / 1'000'000, base::format_rfc3339(now)),
                     std::nullopt};
  if (-ahead > rules.max_age)
    return Rejection{
        Reason::kJobTooOld,
        fmt::format("created_at {} is more than {} s before {}", base::format_rfc3339(created_at),
                    std::chrono::duration_cast<std::chrono::seconds>(rules.max_age).count(), base::format_rfc3339(now)),
        std::nullopt};
  return std::nullopt;
}

std::string to_canonical(const SaveJob& job) {
  return CanonicalWriter(kJobBytesExpected)
      .text("created_at", job.created_at_text)
      .text("expected_state", job.expected_state)
      .text("idempotency_key", job.idempotency_key.str())
      .text("job_id", job.job_id.str())
      .text("job_type", job_type_of(JobKind::kSave))
      .number("job_version", kJobVersion)
      .text("mission_id", job.mission_id.str())
      .text("object_id", job.object_id)
      .hash("provenance_hash", job.provenance_hash)
      .text("source_commit", job.source_commit)
      .text("vault_path", job.vault_path)
      .finish();
}

std::string to_canonical(const DeleteJob& job) {
  return CanonicalWriter(kJobBytesExpected)
      .text("approval_id", job.approval_id.str())
      .text("created_at", job.created_at_text)
      .text("delete_request_id", job.delete_request_id.str())
      .text("expected_commit", job.expected_commit)
      .hash("expected_provenance_hash", job.expected_provenance_hash)
      .text("idempotency_key", job.idempotency_key.str())
      .text("job_id", job.job_id.str())
      .text("job_type", job_type_of(JobKind::kDelete))
      .number("job_version", kJobVersion)
      .text("mission_id", job.mission_id.str())
      .text("object_id", job.object_id)
      .text("vault_path", job.vault_path)
      .finish();
}

bool same_request(std::string_view canonical_a, std::string_view canonical_b) {
  auto a = parse_canonical(canonical_a);
  auto b = parse_canonical(canonical_b);
  if (!a || !b || !a->is_object() || !b->is_object()) return false;
  for (Json* job : {&*a, &*b})
    for (const char* own : {"job_id", "created_at"}) job->erase(own);
  return *a == *b;
}

bool is_object_id(std::string_view text) { return is_word(text, limits::kObjectIdBytesMax, "._:-"); }

bool is_state_word(std::string_view text) { return is_word(text, limits::kStateWordBytesMax, " _-"); }

bool is_commit_id(std::string_view text, ObjectFormat format) {
  const std::size_t digits = format == ObjectFormat::kSha1 ? 40 : 64;
  const auto is_lower_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == digits && std::ranges::all_of(text, is_lower_hex) &&
         std::ranges::any_of(text, [](char c) { return c != '0'; });
}

}  // namespace intray::model
