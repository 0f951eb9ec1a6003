#include "sys/identity.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "sys/attempt.h"
#include "sys/dir.h"
#include "sys/machine.h"
#include "sys/program.h"
#include "sys/race.h"
#include "temp_dir.h"

using namespace intray;
using base::ErrorCode;
using test::value_of;

namespace {

bool is_root() {
  if (::geteuid() == 0) return true;
  WARN("SKIPPED: needs root, to become somebody else");
  return false;
}

sys::Identity self() { return {.uid = ::geteuid(), .gid = ::getegid(), .groups = {}}; }
constexpr std::uint32_t kSomebody = 64'123;
const sys::Identity kOther{.uid = kSomebody, .gid = kSomebody, .groups = {64'200}};

sys::Attempt one(const sys::Identity& identity, const std::function<sys::Attempt()>& act) {
  const std::array acts{act};
  return value_of(sys::try_as(identity, acts)).at(0);
}

}  // namespace

TEST_CASE("accounts: by name, by number, and their groups") {
  const auto root = sys::account_of("root");
  REQUIRE(root);
  CHECK(root->uid == 0);
  CHECK(sys::account_of(std::uint32_t{0})->name == "root");
  CHECK(sys::groups_of(*root).front() == 0);
  CHECK_FALSE(sys::account_of("no such user: really"));
  CHECK(sys::group_name(0) == "root");
  const auto members = sys::members_of("root", 100);
  CHECK(std::ranges::any_of(members, [](const sys::Account& a) { return a.name == "root"; }));
  CHECK(sys::members_of("no such group: really", 100).empty());
}

TEST_CASE("try_as: a child has exactly the other ids, and no capability") {
  if (!is_root()) return;
  const auto is = [](bool yes) { return sys::Attempt{yes, yes ? 0 : EINVAL}; };
  CHECK(one(kOther, [&] {
          return is(::getuid() == kSomebody && ::geteuid() == kSomebody && ::getegid() == kSomebody);
        }).done);
  CHECK(one(kOther, [&] {
          gid_t groups[4]{};
          return is(::getgroups(4, groups) == 1 && groups[0] == 64'200);
        }).done);
  CHECK(one(kOther, [&] { return is(::setuid(0) != 0 && errno == EPERM); }).done);
  CHECK(one(kOther, [&] {
          const auto status = sys::read_file("/proc/self/status", 1 << 16);
          return is(status && status->find("CapEff:\t0000000000000000") != std::string::npos &&
                    status->find("CapPrm:\t0000000000000000") != std::string::npos &&
                    status->find("NoNewPrivs:\t1") != std::string::npos);
        }).done);
  CHECK(::geteuid() == 0);
}

TEST_CASE("try_as: answers keep their order, and a child that dies is no answer") {
  const std::vector<std::function<sys::Attempt()>> acts = {[] {
                                                             return sys::Attempt{true, 0};
                                                           },
                                                           [] {
                                                             return sys::Attempt{false, EACCES};
                                                           },
                                                           [] {
                                                             return sys::Attempt{false, EPERM};
                                                           }};
  const auto answers = value_of(sys::try_as(self(), acts));
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].done);
  CHECK(answers[1].error == EACCES);
  CHECK(answers[2].error == EPERM);
  const std::vector<std::function<sys::Attempt()>> deadly = {[]() -> sys::Attempt { ::_exit(0); }};
  CHECK(sys::try_as(self(), deadly).error().code == ErrorCode::kUnavailable);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // nobody is left
}

TEST_CASE("try_as: nobody but root becomes another") {
  if (!is_root()) return;
  const std::vector<std::function<sys::Attempt()>> nested = {[] {
    const std::vector<std::function<sys::Attempt()>> acts = {[] { return sys::Attempt{true, 0}; }};
    const auto answer = sys::try_as({.uid = kSomebody + 1, .gid = kSomebody, .groups = {}}, acts);
    return sys::Attempt{!answer && answer.error().code == ErrorCode::kDenied, 0};
  }};
  CHECK(value_of(sys::try_as(kOther, nested)).at(0).done);
}

TEST_CASE("tries: files, folders, other people's files") {
  if (!is_root()) return;
  const test::TempDir temp;
  REQUIRE(::chmod(temp.path().c_str(), 0755) == 0);
  test::write_text(temp / "secret", "x");
  REQUIRE(::chmod((temp / "secret").c_str(), 0600) == 0);
  CHECK(one(kOther, [&] { return sys::try_read(temp / "secret"); }).error == EACCES);
  CHECK(one(kOther, [&] { return sys::try_write(temp.path()); }).error == EACCES);
  REQUIRE(::chmod((temp / "secret").c_str(), 0644) == 0);
  CHECK(one(kOther, [&] { return sys::try_read(temp / "secret"); }).done);
  CHECK(one(kOther, [&] { return sys::try_write(temp / "secret"); }).error == EACCES);

  REQUIRE(::mkdir((temp / "drop").c_str(), 0700) == 0);
  REQUIRE(::chown((temp / "drop").c_str(), 64'001, 64'200) == 0);
  REQUIRE(::chmod((temp / "drop").c_str(), 03770) == 0);
  value_of(sys::clone_directory(temp / "drop", temp / "clone"));
  struct stat like {};
  REQUIRE(::stat((temp / "clone").c_str(), &like) == 0);
  CHECK((like.st_mode & 07777U) == 03770);
  CHECK(like.st_uid == 64'001);
  CHECK(like.st_gid == 64'200);
  CHECK(one(kOther, [&] { return sys::try_write(temp / "clone"); }).done);
  CHECK(test::names_in(temp / "clone").empty());  // the try left nothing
  value_of(sys::place_file(temp / "clone/theirs"));
  CHECK(one(kOther, [&] { return sys::try_remove(temp / "clone/theirs"); }).error == EPERM);
  REQUIRE(::chmod((temp / "clone").c_str(), 02770) == 0);
  CHECK(one(kOther, [&] { return sys::try_remove(temp / "clone/theirs"); }).done);
}

TEST_CASE("tries: other people's processes") {
  if (!is_root()) return;
  const auto decoy = value_of(sys::Decoy::start({.uid = kSomebody + 1, .gid = kSomebody + 1, .groups = {}}));
  CHECK(one(kOther, [&] { return sys::try_signal(decoy.pid()); }).error == EPERM);
  CHECK_FALSE(one(kOther, [&] { return sys::try_trace(decoy.pid()); }).done);
  // The same tries on one's own process work, so a refusal means something.
  const auto own = value_of(sys::Decoy::start({.uid = kSomebody, .gid = kSomebody, .groups = {}}));
  const sys::Identity same{.uid = kSomebody, .gid = kSomebody, .groups = {}};
  CHECK(one(same, [&] { return sys::try_signal(own.pid()); }).done);
  if (sys::look_at_machine().yama_ptrace.value_or(0) == 0)
    CHECK(one(same, [&] { return sys::try_trace(own.pid()); }).done);
}

TEST_CASE("tries: sockets") {
  const test::TempDir temp;
  CHECK(one(self(), [&] { return sys::try_connect(temp / "nobody"); }).error == ENOENT);
  CHECK(one(self(), [] { return sys::try_tcp_socket(); }).done);
}

TEST_CASE("run_as: output, exit code, and an empty environment") {
  ::setenv("INTRAY_TEST_LEAK", "1", 1);
  auto out = value_of(sys::run_as(self(), "/bin/sh", {"-c", "echo \"[$INTRAY_TEST_LEAK]\"; exit 7"}));
  CHECK(out.exit_code == 7);
  CHECK(out.text == "[]\n");
  out = value_of(sys::run_as(self(), "/bin/sh", {"-c", "kill -9 $$"}));
  CHECK(out.signal == SIGKILL);
  CHECK(value_of(sys::run_as(self(), "/nothing/there", {})).exit_code == 127);
  if (!is_root()) return;
  CHECK(value_of(sys::run_as(kOther, "/bin/sh", {"-c", "id -u; id -g"})).text == "64123\n64123\n");
}

TEST_CASE("machine: facts of a process that is there") {
  const auto machine = sys::look_at_machine();
  CHECK_FALSE(machine.kernel.empty());
  CHECK(machine.landlock_abi >= 0);
  const auto processes = sys::processes_of(::geteuid(), 100'000);
  const auto self = std::ranges::find(processes, ::getpid(), &sys::ProcessFacts::pid);
  REQUIRE(self != processes.end());
  CHECK_FALSE(self->own_network);
  CHECK(self->name == "sys_test");
  CHECK_FALSE(sys::listener_uid(1));
}

TEST_CASE("program: the functions that a program imports") {
  const auto self = value_of(sys::read_file("/proc/self/exe", std::size_t{1} << 30));
  const auto imports = value_of(sys::imported_symbols(self));
  CHECK(std::ranges::find(imports, "fork") != imports.end());
  CHECK(std::ranges::find(imports, "popen") == imports.end());
  CHECK(sys::imported_symbols("").error().code == ErrorCode::kInvalid);
  CHECK(sys::imported_symbols("#!/bin/sh\n").error().code == ErrorCode::kInvalid);
  // Damaged at every place that is read first: an error or an answer, never a crash.
  for (std::size_t at = 0; at < 64; ++at) {
    std::string bytes = self.substr(0, 200'000);
    bytes[at] = static_cast<char>(0xff);
    static_cast<void>(sys::imported_symbols(bytes));
  }
}

TEST_CASE("race: every rename has one winner, and nothing is left") {
  const test::TempDir temp;
  const auto race = value_of(sys::race_renames(temp.path(), 32, 4));
  CHECK(race.won == 32);
  CHECK(race.arrived == 32);
  CHECK(test::names_in(temp.path()).empty());
}
