#include "model/receipt.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/utf8.h"
#include "model/canonical.h"
#include "model/canonical_writer.h"
#include "model/take_apart.h"

namespace intray::model {
namespace {

using Json = nlohmann::json;

constexpr int kReceiptVersion = 1;
constexpr std::size_t kLineBytesExpected = 768;
constexpr int kHttpStatusMax = 999;

// Callers escape what they quote; a slip of theirs must not tear the line.
void quote(CanonicalWriter& out, std::string_view name, const std::string& text) {
  const bool sound = base::is_utf8(text) && !text.contains('\0');
  out.text(name, sound ? text : base::escape(text));
}

std::string evidence_object(const Evidence& evidence) {
  CanonicalWriter out(256);
  if (evidence.detail) quote(out, "detail", *evidence.detail);
  if (evidence.expected_sha256) out.hash("expected_sha256", *evidence.expected_sha256);
  if (evidence.http_status) out.number("http_status", *evidence.http_status);
  if (evidence.observed_sha256) out.hash("observed_sha256", *evidence.observed_sha256);
  return out.finish();
}

std::optional<JobKind> kind_of_job_type(std::string_view word) {
  for (const JobKind kind : {JobKind::kSave, JobKind::kDelete})
    if (word == job_type_of(kind)) return kind;
  return std::nullopt;
}

// Reads members into a receipt. Whether something is left over or written in another way shows when the receipt read
// is written again, so that only absence and wrong types or values are looked for here.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class T, class Parse>
  void text(T& out, const char* name, Parse parse) {
    const Json* value = member(name);
    if (value == nullptr || !value->is_string()) return fail(name);
    auto parsed = parse(value->get_ref<const std::string&>());
    if (!parsed) return fail(name);
    out = *std::move(parsed);
  }
  // null stands for nullopt.
  template <class T, class Parse>
  void nullable(std::optional<T>& out, const char* name, Parse parse) {
    const Json* value = member(name);
    if (value != nullptr && value->is_null()) return;
    text(out.emplace(), name, parse);
  }
  // Absence stands for nullopt.
  template <class T, class Parse>
  void optional(std::optional<T>& out, const char* name, Parse parse) {
    if (member(name) != nullptr) text(out.emplace(), name, parse);
  }
  template <class Int>
  void number(Int& out, const char* name, std::int64_t max) {
    const Json* value = member(name);
    if (value == nullptr || !value->is_number_unsigned()) return fail(name);  // never negative
    const auto number = value->get<std::int64_t>();
    if (number > max) return fail(name);
    out = static_cast<Int>(number);
  }
  const Json* member(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void fail(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const Json& object_;
  std::string wrong_;  // the first member that is missing or holds what it must not
};

std::optional<std::string> any_text(std::string_view text) { return std::string(text); }

void read_evidence(Reader& receipt, Evidence& out) {
  const Json* value = receipt.member("evidence");
  if (value == nullptr || !value->is_object()) return receipt.fail("evidence");
  Reader evidence(*value);
  evidence.optional(out.detail, "detail", any_text);
  evidence.optional(out.expected_sha256, "expected_sha256", base::Sha256::parse);
  evidence.optional(out.observed_sha256, "observed_sha256", base::Sha256::parse);
  if (evidence.member("http_status") != nullptr)
    evidence.number(out.http_status.emplace(), "http_status", kHttpStatusMax);
  if (!evidence.wrong().empty()) receipt.fail("evidence");
}

std::unexpected<base::Error> corrupt(const std::string& what) {
  return base::fail(base::ErrorCode::kCorrupt, fmt::format("receipt: {}", what));
}

}  // namespace

std::string to_line(const Receipt& receipt) {
  CanonicalWriter out(kLineBytesExpected);
  out.text("admitted_at", base::format_rfc3339(receipt.admitted_at))
      .number("attempts", receipt.attempts)
      .hash("audit_hash", receipt.audit_hash)
      .number("audit_seq", receipt.audit_seq.value)
      .number("epoch", receipt.epoch.value)
      .raw("evidence", evidence_object(receipt.evidence));
  if (!receipt.job_id && receipt.file_name) quote(out, "file_name", *receipt.file_name);
  out.text("finished_at", base::format_rfc3339(receipt.finished_at));
  receipt.job_id ? out.text("job_id", receipt.job_id->str()) : out.null("job_id");
  receipt.job_sha256 ? out.hash("job_sha256", *receipt.job_sha256) : out.null("job_sha256");
  out.text("job_type", job_type_of(receipt.kind));
  receipt.reason ? out.text("reason", to_word(*receipt.reason)) : out.null("reason");
  out.number("receipt_version", kReceiptVersion)
      .text("result", to_word(receipt.result))
      .text("state", to_word(receipt.state))
      .text("worker_id", receipt.worker_id.str());
  return out.finish();
}

base::Result<Receipt> parse_receipt(std::string_view line) {
  auto parsed = parse_canonical(line);
  const TakenApart lets_go(parsed);
  if (!parsed) return corrupt(parsed.error().detail);
  if (!parsed->is_object()) return corrupt("not an object");
  Reader in(*parsed);
  int version = 0;
  in.number(version, "receipt_version", std::numeric_limits<int>::max());
  if (in.wrong().empty() && version != kReceiptVersion)
    return corrupt(fmt::format("unknown receipt_version {}", version));

  constexpr std::int64_t kCounterMax = std::numeric_limits<std::int64_t>::max();  // parse_canonical bounds it further
  Receipt out;
  in.text(out.admitted_at, "admitted_at", base::parse_rfc3339);
  in.number(out.attempts, "attempts", std::numeric_limits<int>::max());
  in.text(out.audit_hash, "audit_hash", base::Sha256::parse);
  in.number(out.audit_seq.value, "audit_seq", kCounterMax);
  in.number(out.epoch.value, "epoch", kCounterMax);
  read_evidence(in, out.evidence);
  in.optional(out.file_name, "file_name", any_text);
  in.text(out.finished_at, "finished_at", base::parse_rfc3339);
  in.nullable(out.job_id, "job_id", base::JobId::parse);
  in.nullable(out.job_sha256, "job_sha256", base::Sha256::parse);
  in.text(out.kind, "job_type", kind_of_job_type);
  in.nullable(out.reason, "reason", parse_reason);
  in.text(out.result, "result", parse_result);
  in.text(out.state, "state", parse_state);
  in.text(out.worker_id, "worker_id", base::WorkerId::parse);
  if (!in.wrong().empty()) return corrupt(fmt::format("member {} is missing or wrong", in.wrong()));
  // Unknown members, a file name beside a job id, times with fewer digits: all of them would not come back.
  if (to_line(out) != line) return corrupt("holds what no receipt of version 1 holds");
  return out;
}

}  // namespace intray::model
