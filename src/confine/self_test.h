// Purpose:    proves, before any work, that what must be refused is refused here, on this kernel, by these tables.
// Process:    executors.
// Trust:      none is needed: each answer is the kernel's. The children go through the same lock-down as their parent
//             will, under the process name "intray-selftest" (so that an audit of killed processes can tell them
//             apart).
// Thread use: one thread: it forks. Before the slot's lock is taken.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "confine/plan.h"
#include "sys/dir.h"

namespace intray::confine {

struct Finding {
  std::string name;  // "foreign_file"
  bool passed = false;
  std::string how;  // what was tried, and what the answer was
};

struct SelfTestTargets {
  std::string foreign_file;       // this user may read it, and no plan names it: the settings file
  std::string foreign_program;    // this user may execute it: the connector, or this program
  const sys::Dir* slot;           // where a file may be made for the test, under this name
  std::string file_name;          // ".self-test"
  std::string foreign_directory;  // this user may write there, and no plan names it: the ledger's
};

// One child for each denial, each with a plan of its own from `make_plan`.
std::vector<Finding> prove_denials(const std::function<base::Result<Plan>()>& make_plan,
                                   const SelfTestTargets& targets);

// In the locked-down process itself: the filter is there, the path rules are there.
std::vector<Finding> look_around(const SelfTestTargets& targets, bool paths_restricted);

}  // namespace intray::confine
