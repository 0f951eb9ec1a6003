// Purpose:    what one role of process may still do once it is locked down: its system calls, its paths.
// Process:    executors.
// Trust:      built in and from open directories; nothing of it comes from a job.
// Thread use: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/dir.h"
#include "sys/landlock.h"
#include "sys/seccomp_filter.h"

namespace intray::confine {

// What may be done below a directory.
struct PathRule {
  int directory = -1;
  std::uint64_t rights = 0;  // sys::landlock
  std::string what;          // for messages: its path
};

struct Plan {
  std::string role;  // "save"
  const sys::FilterRule* calls = nullptr;
  std::size_t call_count = 0;
  std::vector<sys::FilterValue> values;  // what the @names of the policy stand for, @last_opened and @pid apart
  std::vector<PathRule> paths;
  std::vector<sys::Dir> only_for_rules;  // stay open for ever after lock-down
  bool allow_reduced = false;            // confinement.allow_reduced
};

// What every executor has open, whatever its kind.
struct ExecutorPlaces {
  const sys::Dir& tmp;
  const sys::Dir& fresh;  // new/
  const sys::Dir& cur;
  const sys::Dir& slot;  // lease/<n>/
  const sys::Dir& done;
  const sys::Dir& failed;
  const sys::Dir& rejected;
  const sys::Dir& unknown;
  const sys::Dir& receipts;
  std::uint32_t file_mode = 0640;             // of the receipts files that it makes
  std::string mirror;                         // the git repository
  std::vector<std::string> read_directories;  // of files that are read again while it works
  int epoll = -1;
  int timer = -1;
  int channel = -1;  // to the connector
};

// Errors: a directory that can't be opened.
base::Result<Plan> save_plan(const ExecutorPlaces& places);

}  // namespace intray::confine
