#include "confine/self_test.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "confine/lock_down.h"
#include "sys/attempt.h"
#include "sys/probe.h"

namespace intray::confine {
namespace {

constexpr const char* kChildName = "intray-selftest";
constexpr int kProbe_s = 10;       // each takes milliseconds; more is a machine in trouble
constexpr int kNotConfined = 200;  // the child's lock-down failed; above every errno

// What a probe must come to. 0 for the signal: it must fail with one of the errnos instead.
struct Expected {
  int signal = 0;
  int error = 0;
  int other_error = 0;
};

constexpr Expected kKilled{.signal = SIGSYS, .error = 0, .other_error = 0};
constexpr Expected kRefused{.signal = 0, .error = EACCES, .other_error = EXDEV};

std::string end_text(const sys::ChildEnd& end) {
  if (end.signal == SIGSYS) return "killed by SIGSYS";
  if (end.signal != 0) return fmt::format("killed by signal {}", end.signal);
  if (end.code == kNotConfined) return "its lock-down failed";
  return end.code == 0 ? "IT WORKED" : fmt::format("failed with errno {}", end.code);
}

Finding probe(const std::string& name, const std::string& what, Expected expected,
              const std::function<base::Result<Plan>()>& make_plan, const std::function<int()>& act) {
  const auto end = sys::in_child(kChildName, kProbe_s, [&] {
    auto plan = make_plan();
    if (!plan || !lock_down(std::move(*plan))) return kNotConfined;
    return act();
  });
  if (!end) return {name, false, what + ": " + end.error().what};
  const bool as_expected = expected.signal != 0
                               ? end->signal == expected.signal
                               : end->signal == 0 && (end->code == expected.error || end->code == expected.other_error);
  return {name, as_expected, what + ": " + end_text(*end)};
}

}  // namespace

std::vector<Finding> prove_denials(const std::function<base::Result<Plan>()>& make_plan,
                                   const SelfTestTargets& targets) {
  std::vector<Finding> findings;
  const auto prove = [&](const char* name, const std::string& what, Expected expected,
                         const std::function<int()>& act) {
    findings.push_back(probe(name, what, expected, make_plan, act));
  };
  const bool by_path = survey().level != Level::kNone;
  // First without any confinement: a probe that fails by itself would prove nothing.
  if (const int error = sys::try_read(targets.foreign_file).error; error != 0)
    findings.push_back({"foreign_file", false, fmt::format("{} can't be read even now", targets.foreign_file)});
  if (by_path) {
    prove("foreign_file", "reading " + targets.foreign_file, kRefused,
          [&] { return sys::try_read(targets.foreign_file).error; });
    // Within the pinned pair of directories, which an absolute name leaves without the filter's noticing.
    if (auto made = targets.slot->open_rw(targets.file_name, 0600); made) {
      const std::string away = targets.foreign_directory + "/" + targets.file_name;
      prove("rename_out", "moving a file to " + targets.foreign_directory, kRefused,
            [&] { return sys::try_rename(targets.slot->fd(), targets.file_name, targets.slot->fd(), away); });
      static_cast<void>(targets.slot->unlink(targets.file_name));
    } else {
      findings.push_back({"rename_out", false, made.error().what});
    }
  }
  prove("rename_elsewhere", "renaming in another directory", kKilled,
        [] { return sys::try_rename(sys::kWorkingDirectory, "intray-a", sys::kWorkingDirectory, "intray-b"); });
  prove("socket", "making a socket", kKilled, [] { return sys::try_socket(); });
  prove("exec", "executing " + targets.foreign_program, kKilled,
        [&] { return sys::try_exec(targets.foreign_program); });
  prove("fork", "making a process", kKilled, [] { return sys::try_fork(); });
  return findings;
}

std::vector<Finding> look_around(const SelfTestTargets& targets, bool paths_restricted) {
  std::vector<Finding> findings;
  const int call = sys::try_new_call();
  findings.push_back({"filter_active", call == ENOSYS, fmt::format("a call outside the list: errno {}", call)});
  if (paths_restricted) {
    const int read = sys::try_read(targets.foreign_file).error;
    findings.push_back(
        {"paths_active", read == EACCES, fmt::format("reading {}: errno {}", targets.foreign_file, read)});
  }
  return findings;
}

}  // namespace intray::confine
