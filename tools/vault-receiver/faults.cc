#include "vault-receiver/faults.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/log.h"
#include "vault-receiver/bounds.h"
#include "vault-receiver/fd.h"

namespace intray::vault_receiver {
namespace {

enum class Argument { kNone, kMilliseconds, kStatus, kText };

struct Word {
  std::string_view name;
  What what;
  Argument argument;
};

constexpr auto kWords = std::to_array<Word>({
    {"delay", What::kDelay, Argument::kMilliseconds},
    {"delay-answer", What::kDelayAnswer, Argument::kMilliseconds},
    {"cut-before", What::kCutBefore, Argument::kNone},
    {"cut-after", What::kCutAfter, Argument::kNone},
    {"cut-body", What::kCutBody, Argument::kNone},
    {"reset-before", What::kResetBefore, Argument::kNone},
    {"reset-after", What::kResetAfter, Argument::kNone},
    {"status", What::kStatus, Argument::kStatus},
    {"status-after", What::kStatusAfter, Argument::kStatus},
    {"body", What::kBody, Argument::kText},
    {"html", What::kHtml, Argument::kNone},
    {"stall", What::kStall, Argument::kNone},
    {"stall-after", What::kStallAfter, Argument::kNone},
    {"lie", What::kLie, Argument::kNone},
    {"mangle", What::kMangle, Argument::kNone},
    {"twice", What::kTwice, Argument::kNone},
    {"flood", What::kFlood, Argument::kNone},
    {"flood-head", What::kFloodHead, Argument::kNone},
    {"garbage", What::kGarbage, Argument::kNone},
});

constexpr auto kModifiers = std::to_array<std::string_view>({"every=", "count=", "skip=", "path=", "retry-after="});

std::unexpected<base::Error> bad(std::string_view spec, std::string_view why) {
  return base::fail(base::ErrorCode::kInvalid, "fault '" + std::string(spec) + "': " + std::string(why));
}

template <class Number>
bool parse_number(std::string_view text, Number& out) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return !text.empty() && error == std::errc{} && stop == end;
}

bool is_modifier(std::string_view text) {
  return std::ranges::any_of(kModifiers, [&](std::string_view name) { return text.starts_with(name); });
}

// Cuts the part up to the next ':' that a modifier follows.
std::string_view take_part(std::string_view& rest) {
  std::size_t end = rest.find(':');
  while (end != std::string_view::npos && !is_modifier(rest.substr(end + 1))) end = rest.find(':', end + 1);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

// nullptr, or what is wrong.
const char* read_kind(std::string_view word, Fault& fault) {
  if (word == "any") return nullptr;
  for (const Kind kind : {Kind::kSave, Kind::kDelete, Kind::kContent, Kind::kSearch}) {
    if (word != to_word(kind)) continue;
    fault.kind = kind;
    return nullptr;
  }
  return "must begin with save:, delete:, content:, search: or any:";
}

const char* read_what(std::string_view part, Fault& fault) {
  const auto equals = part.find('=');
  const auto* const word = std::ranges::find(kWords, part.substr(0, equals), &Word::name);
  if (word == kWords.end()) return "unknown fault";
  fault.what = word->what;
  if ((word->argument == Argument::kNone) != (equals == std::string_view::npos)) {
    return equals == std::string_view::npos ? "needs a value: NAME=VALUE" : "takes no value";
  }
  if (word->argument == Argument::kNone) return nullptr;
  const std::string_view value = part.substr(equals + 1);
  if (word->argument == Argument::kText) {
    fault.text = value;
    return nullptr;
  }
  const bool is_status = word->argument == Argument::kStatus;
  const std::int64_t low = is_status ? 100 : 0;
  const std::int64_t high = is_status ? 599 : kFaultDelayMax.count();
  if (!parse_number(value, fault.number) || fault.number < low || fault.number > high) {
    return is_status ? "a status is 100 to 599" : "a delay is 0 to 3600000 milliseconds";
  }
  return nullptr;
}

const char* read_modifier(std::string_view part, Fault& fault) {
  const auto equals = part.find('=');
  if (equals == std::string_view::npos) return "unknown modifier";
  const std::string_view name = part.substr(0, equals);
  const std::string_view value = part.substr(equals + 1);
  if (name == "path") {
    fault.path_part = value;
    return nullptr;
  }
  if (name == "retry-after") {
    if (fault.what != What::kStatus && fault.what != What::kStatusAfter) return "retry-after belongs to a status";
    if (!std::ranges::all_of(value, [](char c) { return c >= 0x20 && c < 0x7f; })) return "retry-after is ASCII";
    fault.retry_after = value;
    return nullptr;
  }
  std::uint64_t number = 0;
  if (!parse_number(value, number)) return "every, count and skip take a number";
  if (name == "every") {
    fault.every = number;
    return number == 0 ? "every takes 1 or more" : nullptr;
  }
  if (name == "count") {
    fault.count = number;
  } else {
    fault.skip = number;
  }
  return nullptr;
}

}  // namespace

base::Result<Fault> parse_fault(std::string_view spec) {
  Fault fault;
  fault.spec = spec;
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) return bad(spec, "is not KIND:WHAT");
  if (const char* wrong = read_kind(spec.substr(0, colon), fault)) return bad(spec, wrong);
  std::string_view rest = spec.substr(colon + 1);
  if (const char* wrong = read_what(take_part(rest), fault)) return bad(spec, wrong);
  if (fault.what == What::kMangle && fault.kind && fault.kind != Kind::kSave)
    return bad(spec, "only a save is mangled");
  while (!rest.empty()) {
    if (const char* wrong = read_modifier(take_part(rest), fault)) return bad(spec, wrong);
  }
  return fault;
}

bool FaultPlan::Counted::fires() {
  ++seen;
  if (seen <= fault.skip) return false;
  if ((seen - fault.skip) % fault.every != 0) return false;
  if (fault.count && fired >= *fault.count) return false;
  ++fired;
  return true;
}

FaultAction FaultPlan::decide(Kind kind, std::string_view path) {
  if (!file_.empty()) reread_file();
  FaultAction action;
  for (auto* faults : {&fixed_, &from_file_}) {
    for (Counted& counted : *faults) {
      const Fault& fault = counted.fault;
      if (fault.kind && *fault.kind != kind) continue;
      if (fault.what == What::kMangle && kind != Kind::kSave) continue;
      if (!path.contains(fault.path_part) || !counted.fires()) continue;
      if (fault.what == What::kDelay) {
        action.delay += std::chrono::milliseconds(fault.number);
      } else if (fault.what == What::kDelayAnswer) {
        action.delay_answer += std::chrono::milliseconds(fault.number);
      } else if (!action.fault) {
        action.fault = fault;
      } else {
        continue;
      }
      if (!action.specs.empty()) action.specs += ' ';
      action.specs += fault.spec;
    }
  }
  return action;
}

void FaultPlan::reread_file() {
  const Fd file(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  std::string text;
  std::string identity;  // inode, times and text: a rewrite within one tick of the file system's clock is noticed too
  if (file && ::fstat(file.get(), &status) == 0) {
    text.resize(kFaultFileBytesMax);
    const ssize_t n = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
    identity = std::to_string(status.st_ino) + ' ' + std::to_string(status.st_mtim.tv_sec) + ' ' +
               std::to_string(status.st_mtim.tv_nsec) + ' ' + text;
  }
  if (identity == file_identity_) return;
  file_identity_ = std::move(identity);

  std::vector<Counted> faults;
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    auto fault = parse_fault(line);
    if (!fault) {
      base::log(base::LogLevel::kWarn, "FAULT_FILE_INVALID", {{"file", file_}, {"error", fault.error().what}});
      return;
    }
    faults.push_back(Counted{std::move(*fault)});
  }
  from_file_ = std::move(faults);
}

}  // namespace intray::vault_receiver
