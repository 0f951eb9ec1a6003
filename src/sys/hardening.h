// Purpose:    what a process gives up for good before it works: environment, stray descriptors, ids, capabilities, core
//             dumps, new privileges, executable memory.
// Process:    executors, in the order of confine/lock_down.h.
// Trust:      whoever started us may have left descriptors, variables and limits that we must not use.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace intray::sys {

// Empties the environment and sets what libraries would else look for in files: TZ=UTC0, HOME to a path that doesn't
// exist. Whatever is wanted from it must be read before.
void clear_environment();

// Closes every descriptor from 3 on but the ones named. Done first thing: whatever a starter left open is not ours.
base::Result<void> close_all_but(const std::vector<int>& keep);
// Descriptors 0 to 2 must be open, and no directories: a directory on one of them would be a way around every path
// rule. kDenied names the one that is wrong.
base::Result<void> check_standard_descriptors();

// Fills the gaps below the highest open descriptor, so that every descriptor opened later has a higher number; returns
// that highest number. The fillers are /dev/null.
base::Result<int> pin_descriptors();
// The numbers that are open, sorted (of /proc/self/fd).
base::Result<std::vector<int>> open_descriptors();

// Real, effective and saved ids become the effective ones; every capability is dropped from every set that can be
// changed. kDenied: this is root, or a capability is left.
base::Result<void> drop_privileges();

struct ResourceLimits {
  std::uint64_t descriptors = 0;  // RLIMIT_NOFILE, lowered to this where it is higher
  bool no_children = false;       // RLIMIT_NPROC 0; binds ordinary users only
};
// RLIMIT_CORE 0 always.
base::Result<void> set_limits(const ResourceLimits& limits);

// PR_SET_DUMPABLE 0, PR_SET_NO_NEW_PRIVS, and PR_SET_MDWE (Linux 6.3) where there is one. Returns whether there was.
base::Result<bool> give_up_new_powers();

// Threads of this process; 1 is what lock-down needs (Landlock binds the calling thread alone).
base::Result<int> thread_count();

// Ends the process at once with this code: stdio is flushed, nothing is destroyed, no handler of a library runs. A
// locked-down process may not close what it had open before.
[[noreturn]] void leave(int code);

std::string kernel_release();  // uname -r

}  // namespace intray::sys
