#include "attempt.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sys/probe.h"
#include "sys/seccomp_tables.h"

namespace intray::test {
namespace {

constexpr int kNotPrepared = 240;  // above every errno
constexpr int kNotLocked = 241;
constexpr int kAttempt_s = 10;
constexpr unsigned kBlocked_s = 1;  // a call that waits is a call that was allowed

}  // namespace

std::string Outcome::text() const {
  switch (kind) {
    case Kind::kWorked: return "worked";
    case Kind::kError: return std::string("failed with ") + ::strerrorname_np(number);
    case Kind::kSignal: return std::string("ended by SIG") + ::sigabbrev_np(number);
    case Kind::kNoLockDown: return "was not made: no lock-down (" + std::to_string(number) + ")";
  }
  std::abort();
}

bool fits(const Outcome& outcome, Expected expected) {
  const bool error = outcome.kind == Outcome::Kind::kError;
  switch (expected) {
    case Expected::kWorks: return outcome.worked();
    case Expected::kKilled: return outcome.kind == Outcome::Kind::kSignal && outcome.number == SIGSYS;
    case Expected::kRefused:
      return error && (outcome.number == EACCES || outcome.number == EXDEV || outcome.number == EPERM);
    case Expected::kNoSuchCall: return error && outcome.number == ENOSYS;
    case Expected::kFails: return error || outcome.kind == Outcome::Kind::kSignal;
  }
  std::abort();
}

const char* to_word(Expected expected) {
  switch (expected) {
    case Expected::kWorks: return "works";
    case Expected::kKilled: return "SIGSYS";
    case Expected::kRefused: return "EACCES or EXDEV";
    case Expected::kNoSuchCall: return "ENOSYS";
    case Expected::kFails: return "fails";
  }
  std::abort();
}

const Cases& all_cases() {
  static const Cases& cases = *new Cases([] {
    Cases out;
    for (auto* add : {add_file_cases, add_name_cases, add_socket_cases, add_descriptor_cases, add_process_cases,
                      add_memory_cases, add_kernel_cases, add_honest_cases})
      add(out);
    return out;
  }());
  return cases;
}

Outcome attempt(const Scratch& scratch, const std::function<long(const World&)>& act,
                const confine::WeakenedForTests& weakened, bool allow_reduced) {
  const auto end = sys::in_child("intray-attempt", kAttempt_s, [&] {
    World world;
    if (!enter(scratch, world)) return kNotPrepared;
    auto plan = world.plan();
    if (!plan) return kNotPrepared;
    plan->allow_reduced = allow_reduced;
    ::alarm(kBlocked_s);
    if (!confine::lock_down(std::move(*plan), weakened)) return kNotLocked;
    errno = 0;
    return act(world) == -1 ? errno : 0;
  });
  if (!end) return {Outcome::Kind::kNoLockDown, 0};
  if (end->signal == SIGALRM) return {Outcome::Kind::kWorked, 0};
  if (end->signal != 0) return {Outcome::Kind::kSignal, end->signal};
  if (end->code == kNotPrepared || end->code == kNotLocked) return {Outcome::Kind::kNoLockDown, end->code};
  return end->code == 0 ? Outcome{Outcome::Kind::kWorked, 0} : Outcome{Outcome::Kind::kError, end->code};
}

long call_words(long number, const std::vector<long>& words) {
  std::vector<long> six = words;
  six.resize(6);
  return ::syscall(number, six[0], six[1], six[2], six[3], six[4], six[5]);
}

std::optional<std::string> no_kill_tests() {
  if (sys::kSanitizerBuild) return "the sanitizers' own calls are allowed in this build";
  return std::nullopt;
}

}  // namespace intray::test
