// Purpose:    `intray violations`: which of our processes the kernel has killed for a system call outside their list.
// Trust:      process names in the kernel's lines are chosen by processes: they are escaped, and ours are told apart by
//             the whole name.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cli/console.h"

namespace intray::cli {

// One line of the kernel's audit, type 1326 (AUDIT_SECCOMP).
struct Violation {
  std::string program;  // at most 15 bytes of its name
  int pid = 0;
  std::int64_t uid = 0;  // 32 bits without a sign: containers use the upper half, too
  int call = 0;          // negative where the program made up a number
  int signal = 0;
};

// nullopt: another kind of line, one that can't be read, or not one of our programs. The self-test's children
// ("intray-selftest") are none: they are killed on purpose.
std::optional<Violation> parse_violation(std::string_view line);

struct ViolationsOptions {
  std::optional<base::Micros> within;  // only of the last so much time; nullopt: since boot
};

// kDone: none. kNo: there are some, listed. kUnreadable: the kernel's log can't be read.
int run_violations(Console& console, const ViolationsOptions& options);

}  // namespace intray::cli
