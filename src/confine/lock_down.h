// Purpose:    gives up, for good, every power that a plan does not name.
// Process:    executors, after everything is open and before the first byte of a job is read.
// Trust:      after it, code that a job or an answer smuggled in has this process's descriptors and the plan, no more.
// Thread use: requires one thread.
//
// The order, each step needing that the ones after it have not happened:
//   one thread ─► ids and capabilities ─► limits ─► descriptors pinned ─► not dumpable, no_new_privs, MDWE ─►
//   Landlock (its calls are not in any filter) ─► system call filter
// Before it, in the start of the program: environment, stray descriptors, libraries warmed, everything opened.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "confine/plan.h"

namespace intray::confine {

enum class Level {
  kFull,
  kReduced,  // Landlock is old: what it lacks is in `missing`, and covered by the filter
  kNone,     // no Landlock: files are protected by their modes alone
};
std::string_view to_word(Level level);  // "full", "reduced", "none"

struct Status {
  Level level = Level::kNone;
  int landlock_abi = 0;
  std::string kernel;
  std::vector<std::string> missing;    // rights that this kernel's Landlock doesn't know
  bool refuses_writable_code = false;  // MDWE
  // "full: Landlock ABI 7, 95 call rules, kernel 6.18.1"
  std::string line;
};

// What this kernel would give, without doing anything.
Status survey(int abi_max = sys::landlock::kAbiMax);

// A weaker lock-down, for tests that show what each layer is good for. No program makes one.
struct WeakenedForTests {
  bool without_calls = false;  // no filter
  bool without_paths = false;  // no Landlock
  bool without_ids = false;    // stays root
  int abi_max = sys::landlock::kAbiMax;
};

// kUnsupported: this kernel's Landlock is below the floor and the plan does not allow that; nothing was given up. Any
// other error: an unknown part was given up, and the process must end. `plan` is used up.
base::Result<Status> lock_down(Plan plan, const WeakenedForTests& weakened = {});

}  // namespace intray::confine
