#include "sys/seccomp_filter.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <vector>

#include "sys/probe.h"

namespace intray::test {
namespace {

using sys::FilterCompare;
using sys::FilterRule;
using sys::FilterValue;

constexpr int kSeconds = 20;
constexpr FilterRule kExit{"exit_group", -1, 0, 0, {}};
constexpr FilterRule kWrite{"write", -1, 0, 0, {}};

sys::FilterError load(const std::vector<FilterRule>& rules, const std::vector<FilterValue>& values = {}) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return sys::load_filter(
      {.rules = rules.data(), .rule_count = rules.size(), .values = values.data(), .value_count = values.size()});
}

// Loads the rules in a child, then does `act`, which returns an exit code.
sys::ChildEnd under(const std::vector<FilterRule>& rules, const std::vector<FilterValue>& values,
                    const std::function<int()>& act) {
  const auto end = sys::in_child("filter", kSeconds, [&] {
    if (load(rules, values).step != nullptr) return 99;
    return act();
  });
  REQUIRE(end);
  return *end;
}

// In sanitizer builds the run-time makes calls of its own, which no table here allows.
#if !defined(__SANITIZE_ADDRESS__)

TEST_CASE("load_filter: what is listed works, the rest kills") {
  CHECK(under({kExit}, {}, [] { return 5; }).code == 5);
  CHECK(under({kExit}, {}, [] { return static_cast<int>(::syscall(SYS_getppid)); }).signal == SIGSYS);
}

TEST_CASE("load_filter: an errno answers, and the call is not made") {
  const FilterRule soft{"getppid", -1, ENOSYS, 0, {}};
  const auto end = under({kExit, soft}, {}, [] { return ::syscall(SYS_getppid) < 0 ? errno : 0; });
  CHECK(end.code == ENOSYS);
  const FilterRule by_number{nullptr, 462, ENOSYS, 0, {}};
  CHECK(under({kExit, by_number}, {}, [] { return ::syscall(462) < 0 ? errno : 0; }).code == ENOSYS);
}

TEST_CASE("load_filter: comparisons are of all 64 bits") {
  const FilterRule equal{"dup", -1, 0, 1, {{0, FilterCompare::kEqual, 1, nullptr}}};
  CHECK(under({kExit, equal}, {}, [] { return ::syscall(SYS_dup, 1L) > 0 ? 0 : 1; }).code == 0);
  CHECK(under({kExit, equal}, {}, [] { return static_cast<int>(::syscall(SYS_dup, 2L)); }).signal == SIGSYS);
  CHECK(under({kExit, equal}, {}, [] { return static_cast<int>(::syscall(SYS_dup, (1L << 32) | 1L)); }).signal ==
        SIGSYS);
  const FilterRule within{"umask", -1, 0, 1, {{0, FilterCompare::kWithin, 027, nullptr}}};
  CHECK(under({kExit, within}, {}, [] { return ::syscall(SYS_umask, 022L) >= 0 ? 0 : 1; }).code == 0);
  CHECK(under({kExit, within}, {}, [] { return static_cast<int>(::syscall(SYS_umask, 0777L)); }).signal == SIGSYS);
  CHECK(under({kExit, within}, {}, [] { return static_cast<int>(::syscall(SYS_umask, 1L << 40)); }).signal == SIGSYS);
  const FilterRule above{"dup", -1, 0, 1, {{0, FilterCompare::kAbove, 1, nullptr}}};
  CHECK(under({kExit, above}, {}, [] { return ::syscall(SYS_dup, 2L) > 0 ? 0 : 1; }).code == 0);
  CHECK(under({kExit, above}, {}, [] { return static_cast<int>(::syscall(SYS_dup, 1L)); }).signal == SIGSYS);
}

TEST_CASE("load_filter: a descriptor is what the kernel takes of it") {
  const FilterRule above{"dup", -1, 0, 1, {{0, FilterCompare::kAbove, 40, nullptr}}};
  const auto answer = [&](long fd) {
    return under({kExit, above}, {}, [fd] { return ::syscall(SYS_dup, fd) < 0 ? errno : 0; });
  };
  for (const long open : {41L, 42L, 63L, 64L, 100L, 4095L, 65'535L}) CHECK(answer(open).code == EBADF);
  // -1 as a caller may widen it. It names no descriptor.
  for (const long negative : {-1L, 0xffffffffL, 0x80000000L}) CHECK(answer(negative).code == EBADF);
  // The kernel would take 2 or 40 of each of these.
  for (const long pinned : {2L, 40L, (1L << 32) | 2L, (1L << 32) | 40L, (1L << 62) | 40L, (-1L << 32) | 40L})
    CHECK(answer(pinned).signal == SIGSYS);
  CHECK(answer(65'536).signal == SIGSYS);  // more than a locked-down process can have open
}

TEST_CASE("load_filter: a name stands for each of its values, and for nothing else") {
  const FilterRule named{"dup", -1, 0, 1, {{0, FilterCompare::kEqual, 0, "which"}}};
  const std::vector<FilterValue> values{{"which", 1}, {"other", 0}, {"which", 2}};
  for (const long fd : {1L, 2L})
    CHECK(under({kExit, named}, values, [fd] { return ::syscall(SYS_dup, fd) > 0 ? 0 : 1; }).code == 0);
  CHECK(under({kExit, named}, values, [] { return static_cast<int>(::syscall(SYS_dup, 0L)); }).signal == SIGSYS);
}

#endif

TEST_CASE("load_filter: never a weaker filter than asked for") {
  const auto step = [](const sys::FilterError& error) { return std::string(error.step == nullptr ? "" : error.step); };
  const auto in_child = [&](const std::vector<FilterRule>& rules) {
    return under({}, {}, [] { return 0; }).code == 99 && step(load(rules)) != "";
  };
  CHECK(in_child({}));
  CHECK(in_child({kExit, {"no_such_call", -1, 0, 0, {}}}));
  CHECK(in_child({kExit, {"dup", -1, 0, 1, {{0, FilterCompare::kEqual, 0, "nameless"}}}}));
  // Nothing of these was loaded into this process.
  CHECK(::getppid() > 0);
}

TEST_CASE("export_filter: readable, and made of the same rules") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const std::vector<FilterRule> rules{kExit, kWrite};
  CHECK(sys::export_filter({.rules = rules.data(), .rule_count = rules.size()}, ends[1]).step == nullptr);
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  CHECK(text.find("exit_group") != std::string::npos);
  CHECK(text.find("write") != std::string::npos);
  CHECK(text.find("KILL_PROCESS") != std::string::npos);
}

TEST_CASE("call_name: by number, and nothing for none") {
  std::array<char, 32> name{};
  sys::call_name(0, name.data(), name.size());
  CHECK(std::string(name.data()) == "read");
  sys::call_name(9999, name.data(), name.size());
  CHECK(std::string(name.data()).empty());
  std::array<char, 3> narrow{};
  sys::call_name(0, narrow.data(), narrow.size());
  CHECK(std::string(narrow.data()) == "re");
}

}  // namespace
}  // namespace intray::test
