#include "sys/hardening.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "sys/probe.h"

namespace intray::test {
namespace {

constexpr int kSeconds = 20;

// What `work` returns in a process of its own.
int in_child(const std::function<int()>& work) {
  const auto end = sys::in_child("hardening", kSeconds, work);
  REQUIRE(end);
  CHECK(end->signal == 0);
  return end->code;
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST_CASE("close_all_but: what a starter left open is closed, what is named stays") {
  CHECK(in_child([] {
          const int null = ::open("/dev/null", O_RDWR);
          for (const int fd : {5, 9, 10, 200}) ::dup2(null, fd);
          if (!sys::close_all_but({9, 2})) return 1;
          return is_open(9) && is_open(0) && is_open(2) && !is_open(5) && !is_open(10) && !is_open(200) &&
                         (null == 9 || !is_open(null))
                     ? 0
                     : 2;
        }) == 0);
  CHECK(in_child([] {
          ::dup2(0, 7);
          return sys::close_all_but({}) && !is_open(7) && !is_open(3) && is_open(2) ? 0 : 1;
        }) == 0);
}

TEST_CASE("check_standard_descriptors: a directory or nothing on 0 to 2 is refused") {
  CHECK(in_child([] { return sys::check_standard_descriptors() ? 0 : 1; }) == 0);
  for (const int fd : {0, 1, 2}) {
    CHECK(in_child([fd] {
            const int root = ::open("/", O_RDONLY | O_DIRECTORY);
            ::dup2(root, fd);
            const auto checked = sys::check_standard_descriptors();
            return !checked && checked.error().code == base::ErrorCode::kDenied ? 0 : 1;
          }) == 0);
    CHECK(in_child([fd] {
            ::close(fd);
            return sys::check_standard_descriptors() ? 1 : 0;
          }) == 0);
  }
}

TEST_CASE("pin_descriptors: no gap is left, so that whatever is opened later has a higher number") {
  CHECK(in_child([] {
          if (!sys::close_all_but({})) return 1;
          for (const int fd : {4, 6, 11}) ::dup2(0, fd);
          const auto highest = sys::pin_descriptors();
          if (!highest || *highest != 11) return 2;
          for (int fd = 0; fd <= 11; ++fd)
            if (!is_open(fd)) return 3;
          return ::open("/dev/null", O_RDONLY) == 12 ? 0 : 4;
        }) == 0);
  CHECK(in_child([] {
          if (!sys::close_all_but({})) return 1;
          const auto highest = sys::pin_descriptors();
          return highest && *highest == 2 && ::open("/dev/null", O_RDONLY) == 3 ? 0 : 2;
        }) == 0);
}

TEST_CASE("clear_environment: nothing is left but a zone and a home that need no file") {
  CHECK(in_child([] {
          ::setenv("https_proxy", "http://192.0.2.1:1", 1);
          sys::clear_environment();
          int variables = 0;
          for (char** variable = environ; *variable != nullptr; ++variable) ++variables;
          return variables == 2 && std::string(::getenv("TZ")) == "UTC0" && ::getenv("https_proxy") == nullptr ? 0 : 1;
        }) == 0);
}

TEST_CASE("drop_privileges: root is refused; nobody else has a capability afterwards") {
  CHECK(in_child([] {
          if (::geteuid() == 0) {
            const auto dropped = sys::drop_privileges();
            if (dropped || dropped.error().code != base::ErrorCode::kDenied) return 1;
            if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return 2;
          }
          return sys::drop_privileges() ? 0 : 3;
        }) == 0);
}

TEST_CASE("set_limits: no core, and descriptors are only ever lowered") {
  CHECK(in_child([] {
          if (!sys::set_limits({.descriptors = 100, .no_children = true})) return 1;
          rlimit core{};
          rlimit files{};
          rlimit processes{};
          ::getrlimit(RLIMIT_CORE, &core);
          ::getrlimit(RLIMIT_NOFILE, &files);
          ::getrlimit(RLIMIT_NPROC, &processes);
          if (core.rlim_max != 0 || files.rlim_max != 100 || files.rlim_cur != 100 || processes.rlim_max != 0) return 2;
          if (!sys::set_limits({.descriptors = 200, .no_children = false})) return 3;
          ::getrlimit(RLIMIT_NOFILE, &files);
          return files.rlim_max == 100 ? 0 : 4;
        }) == 0);
}

TEST_CASE("give_up_new_powers: not dumpable, no new privileges") {
  CHECK(in_child([] {
          if (!sys::give_up_new_powers()) return 1;
          return ::prctl(PR_GET_DUMPABLE) == 0 && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 2;
        }) == 0);
}

TEST_CASE("in_child: how it ended is told, and one that hangs is killed") {
  CHECK(sys::in_child("t", kSeconds, [] { return 7; })->code == 7);
  CHECK(sys::in_child("t", kSeconds, []() -> int {
          ::kill(::getpid(), SIGUSR1), ::pause();
          return 0;
        })->signal == SIGUSR1);
  CHECK(sys::in_child("t", 1, []() -> int { return ::pause(); })->signal == SIGKILL);
}

}  // namespace
}  // namespace intray::test
