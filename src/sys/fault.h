// Purpose:    failures of disk calls on demand, for tests: every wrapper that touches the disk asks here first.
// Process:    tests only; without INTRAY_FAULT_POINTS check() is a constant and leaves no code behind.
// Thread use: set_hook() while no other thread is in sys; the hook itself may be called by several threads at once.
#pragma once

#include <functional>

namespace intray::sys::fault {

enum class Op {
  kOpen,      // openat
  kChmod,     // fchmod
  kChown,     // fchown
  kRead,      // read
  kWrite,     // write
  kSync,      // fsync
  kDataSync,  // fdatasync
  kRename,    // renameat2
  kUnlink,    // unlinkat
  kStat,      // fstatat, fstat
  kList,      // getdents64
  kMakeDir,   // mkdirat
};

struct Verdict {
  int error = 0;             // errno the call ends with; 0: go on
  bool done_anyway = false;  // with an error: the call is made all the same, and only its answer is lost
  bool skipped = false;      // without error: the call is not made and answers 0 (syncs, where a test runs hundreds)
  bool half_write = false;   // of a write without error: only the first half of the bytes
};

#ifdef INTRAY_FAULT_POINTS
Verdict check(Op op);
// The hook is asked before each call; an empty function removes it.
void set_hook(std::function<Verdict(Op)> hook);
#else
constexpr Verdict check(Op) { return {}; }
#endif

}  // namespace intray::sys::fault
