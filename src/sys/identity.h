// Purpose:    accounts of this machine, and acts tried as one of them: a child becomes that user, tries, and reports.
// Process:    tools that prove the boundary between users (`intray doctor`), started by root.
// Trust:      the account database is root's. What a child reports is our own code's answer; a program's output is not.
// Thread use: one thread; children are forked from it and waited for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace intray::sys {

struct Account {
  std::string name;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;  // primary group
  std::string home;
};
std::optional<Account> account_of(const std::string& name);
std::optional<Account> account_of(std::uint32_t uid);
std::vector<Account> all_accounts(std::size_t max);
// Primary group included.
std::vector<std::uint32_t> groups_of(const Account& account);
// Accounts that have this group as their primary one or are listed in it, at most `max`, without repetition.
std::vector<Account> members_of(const std::string& group, std::size_t max);
std::optional<std::string> group_name(std::uint32_t gid);

// Whom a child becomes: exactly these ids, no capability, no way to gain one (no_new_privs).
struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  // supplementary
};

// What became of one try. `done`: the kernel allowed it; otherwise `error` is the errno.
struct Attempt {
  bool done = false;
  int error = 0;
};

// Forks a child that becomes `identity` and runs the acts in order; the answers, in the same order. The child is gone
// when this returns. kDenied: we may not become that user; kBusy: the acts took longer than
// limits::kProbeSecondsMax; kUnavailable: the child died. An identity that equals this unprivileged process is not
// changed to.
base::Result<std::vector<Attempt>> try_as(const Identity& identity, std::span<const std::function<Attempt()>> acts);

// Whether try_as can become it: we are root, or it is our own uid.
bool can_become(const Identity& identity);

// A process of that identity that does nothing, as a target for tries; it ends with this object, or with us.
class Decoy {
 public:
  static base::Result<Decoy> start(const Identity& identity);
  Decoy(Decoy&& other) noexcept : pid_(other.pid_), uid_(other.uid_) { other.pid_ = -1; }
  Decoy& operator=(Decoy&&) = delete;
  ~Decoy();
  int pid() const { return pid_; }
  std::uint32_t uid() const { return uid_; }

 private:
  Decoy(int pid, std::uint32_t uid) : pid_(pid), uid_(uid) {}
  int pid_;
  std::uint32_t uid_;
};

// Runs a program as `identity`: empty environment, stdin and stderr /dev/null, at most limits::kSelfTestSecondsMax.
struct ProgramOutput {
  int exit_code = -1;  // -1: it died by a signal
  int signal = 0;
  std::string text;  // standard output, at most limits::kSelfTestBytesMax
};
base::Result<ProgramOutput> run_as(const Identity& identity, const std::string& program,
                                   const std::vector<std::string>& arguments);

}  // namespace intray::sys
