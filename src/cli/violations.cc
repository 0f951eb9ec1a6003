#include "cli/violations.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/json_line.h"
#include "cli/table.h"
#include "sys/kernel_log.h"
#include "sys/seccomp_filter.h"

namespace intray::cli {
namespace {

constexpr std::string_view kSeccompRecord = "type=1326 ";
// As the kernel cuts them, to 15 bytes.
constexpr std::array<std::string_view, 3> kPrograms{"intray-save", "intray-delete", "intray-connecto"};

// The value of ` name=`; quotes are taken off. "" where there is none.
std::string_view field(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    if (at == 0 || line[at - 1] != ' ' || line.substr(at + name.size(), 1) != "=") continue;
    std::string_view value = line.substr(at + name.size() + 1);
    if (value.starts_with('"')) {
      value.remove_prefix(1);
      return value.substr(0, value.find('"'));
    }
    return value.substr(0, value.find(' '));
  }
  return {};
}

template <class Int>
bool read_number(Int& out, std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || value < min || value > max) return false;
  out = static_cast<Int>(value);
  return true;
}

std::string name_of(int call) {
  std::array<char, 40> name{};
  sys::call_name(call, name.data(), name.size());
  return name[0] == '\0' ? std::to_string(call) : std::string(name.data()) + " (" + std::to_string(call) + ")";
}

std::string signal_name(int signal) { return signal == SIGSYS ? "SIGSYS" : "signal " + std::to_string(signal); }

}  // namespace

std::optional<Violation> parse_violation(std::string_view line) {
  if (!line.contains(kSeccompRecord)) return std::nullopt;
  const std::string_view program = field(line, "comm");
  if (std::find(kPrograms.begin(), kPrograms.end(), program) == kPrograms.end()) return std::nullopt;
  constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();
  constexpr std::int64_t kUidMax = std::numeric_limits<std::uint32_t>::max();
  Violation out;
  out.program = program;
  if (!read_number(out.pid, field(line, "pid"), 0, kIntMax) || !read_number(out.uid, field(line, "uid"), 0, kUidMax) ||
      !read_number(out.call, field(line, "syscall"), std::numeric_limits<int>::min(), kIntMax) ||
      !read_number(out.signal, field(line, "sig"), 0, kIntMax))
    return std::nullopt;
  return out;
}

int run_violations(Console& console, const ViolationsOptions& options) {
  const auto records = sys::kernel_records(std::string(kSeccompRecord), console.clock);
  if (!records) {
    complain(console, "the kernel's log can't be read (root can): " + records.error().what);
    return kUnreadable;
  }
  Table table(console, {{"TIME"}, {"PROGRAM"}, {"PID"}, {"UID"}, {"CALL"}, {"KILLED BY"}});
  int found = 0;
  for (const sys::KernelRecord& record : *records) {
    if (options.within && console.clock.wall() - record.at > *options.within) continue;
    const auto violation = parse_violation(record.text);
    if (!violation) continue;
    ++found;
    if (console.json) {
      print_json(console, {{"at", json_time(record.at)},
                           {"program", violation->program},
                           {"pid", violation->pid},
                           {"uid", violation->uid},
                           {"call", name_of(violation->call)},
                           {"signal", signal_name(violation->signal)}});
    } else {
      table.add({{console.time(record.at)},
                 {violation->program},
                 {std::to_string(violation->pid)},
                 {std::to_string(violation->uid)},
                 {name_of(violation->call)},
                 {signal_name(violation->signal)}});
    }
  }
  if (found > 0) table.finish();
  return found == 0 ? kDone : kNo;
}

}  // namespace intray::cli
