#include "confine/lock_down.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "limits.h"
#include "sys/hardening.h"
#include "sys/process.h"
#include "sys/seccomp_tables.h"

namespace intray::confine {
namespace {

namespace right = sys::landlock;

base::Result<void> check_floor(const Status& status, const Plan& plan) {
  if (status.landlock_abi >= right::kAbiFloor || plan.allow_reduced) return {};
  return base::fail(base::ErrorCode::kUnsupported,
                    fmt::format("Landlock ABI {} on kernel {}: at least {} (Linux 5.19) is needed to protect files. "
                                "'confinement.allow_reduced = true' starts without that protection",
                                status.landlock_abi, status.kernel, right::kAbiFloor));
}

base::Result<void> restrict_paths(const Plan& plan, int abi_max) {
  std::vector<sys::LandlockRule> rules;
  rules.reserve(plan.paths.size());
  for (const PathRule& path : plan.paths) rules.push_back({path.directory, path.rights});
  const sys::LandlockError failed =
      sys::landlock_restrict({.rules = rules.data(), .count = rules.size(), .tcp_port = 0, .abi_max = abi_max});
  if (failed.step == nullptr) return {};
  return base::fail(base::ErrorCode::kUnsupported, failed.step, failed.error);
}

base::Result<void> restrict_calls(const Plan& plan, int last_opened) {
  std::vector<sys::FilterValue> values = plan.values;
  values.push_back({"last_opened", static_cast<std::uint64_t>(last_opened)});
  values.push_back({"pid", static_cast<std::uint64_t>(sys::process_id())});
  const sys::FilterError failed = sys::load_filter({.rules = plan.calls,
                                                    .rule_count = plan.call_count,
                                                    .more_rules = sys::kSanitizerBuild ? sys::kSanitizer : nullptr,
                                                    .more_rule_count = sys::kSanitizerBuild ? sys::kSanitizerCount : 0,
                                                    .values = values.data(),
                                                    .value_count = values.size()});
  if (failed.step == nullptr) return {};
  return base::fail(base::ErrorCode::kUnsupported, fmt::format("system call filter: {} {}", failed.step, failed.call),
                    failed.error);
}

}  // namespace

std::string_view to_word(Level level) {
  switch (level) {
    case Level::kFull: return "full";
    case Level::kReduced: return "reduced";
    case Level::kNone: return "none";
  }
  std::abort();
}

Status survey(int abi_max) {
  Status status;
  status.landlock_abi = std::min(sys::landlock_abi(), abi_max);
  status.kernel = sys::kernel_release();
  const auto lacks = [&](int since, const char* what) {
    if (status.landlock_abi < since) status.missing.emplace_back(what);
  };
  lacks(2, "moving files between directories");
  lacks(3, "truncation");
  lacks(4, "TCP");
  lacks(5, "device ioctl");
  lacks(6, "abstract sockets and signals");
  // From ABI 3 on, what is missing the filter forbids by itself.
  if (status.landlock_abi < right::kAbiFloor)
    status.level = Level::kNone;
  else
    status.level = status.landlock_abi < 3 ? Level::kReduced : Level::kFull;
  status.line =
      fmt::format("{}: Landlock ABI {}, kernel {}{}{}", to_word(status.level), status.landlock_abi, status.kernel,
                  status.missing.empty() ? "" : ", Landlock has no rule for ", fmt::join(status.missing, ", "));
  return status;
}

base::Result<Status> lock_down(Plan plan, const WeakenedForTests& weakened) {
  Status status = survey(weakened.abi_max);
  INTRAY_TRY(check_floor(status, plan));
  const int threads = INTRAY_TRY(sys::thread_count());
  if (threads != 1)
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{} threads: Landlock would bind one of them only", threads));
  if (!weakened.without_ids) INTRAY_TRY(sys::drop_privileges());
  INTRAY_TRY(sys::set_limits({.descriptors = limits::kDescriptorsMax, .no_children = true}));

  // Closing them would leave gaps below the pinned numbers; an open directory is no right to what is in it.
  static std::vector<sys::Dir>& never_closed = *new std::vector<sys::Dir>;  // NOLINT(*-owning-memory)
  std::move(plan.only_for_rules.begin(), plan.only_for_rules.end(), std::back_inserter(never_closed));

  const bool by_path = status.landlock_abi >= right::kAbiFloor && !weakened.without_paths;
  status.refuses_writable_code = INTRAY_TRY(sys::give_up_new_powers());
  const int last_opened = INTRAY_TRY(sys::pin_descriptors());
  if (by_path) INTRAY_TRY(restrict_paths(plan, weakened.abi_max));
  if (!weakened.without_calls) INTRAY_TRY(restrict_calls(plan, last_opened));
  return status;
}

}  // namespace intray::confine
