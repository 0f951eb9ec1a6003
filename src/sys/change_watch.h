// Purpose:    lets a tool sleep until a file in a directory was written to: receipts that grow, a ledger that moves on.
// Process:    tools; an executor has inotify.h and its event loop.
// Thread use: one thread.
//
// A wake-up is a hint to look, no more: a watch that can't be had (no instances left, a network filesystem) only makes
// wait() sleep its whole time, so callers give a time after which they look anyway.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::sys {

class ChangeWatch {
 public:
  // Watches what changes in `dir` from now on. The directory may be closed afterwards.
  static base::Result<ChangeWatch> open(const Dir& dir);
  // A watch of nothing: wait() sleeps.
  ChangeWatch() = default;

  bool live() const { return fd_.valid(); }
  // True as soon as something changed since the last call that returned true, false when `at_most` has passed. A signal
  // may end it early.
  bool wait(base::Micros at_most);

 private:
  explicit ChangeWatch(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace intray::sys
