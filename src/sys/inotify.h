// Purpose:    events of a watched directory: which names were moved in, created, or changed their attributes.
// Trust:      names come from an untrusted party.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::sys {

enum class WatchEvent {
  kMovedIn,   // IN_MOVED_TO: a finished file
  kCreated,   // IN_CREATE: a plain create, which in new/ is a protocol violation
  kTouched,   // IN_ATTRIB of a file in the directory
  kOverflow,  // IN_Q_OVERFLOW: events were lost; rescan
  kLost,      // IN_IGNORED, IN_UNMOUNT, IN_DELETE_SELF, IN_MOVE_SELF: this watch is gone
};

struct WatchRecord {
  int watch = -1;  // -1 for kOverflow
  WatchEvent event = WatchEvent::kOverflow;
  std::string name;
};

class Inotify {
 public:
  // kNoSpace or kBusy: out of instances or watches; the caller falls back to its timer.
  static base::Result<Inotify> create();
  // Watches through /proc/self/fd/<dir>, so that the open directory is watched, not a path. Returns the watch number.
  base::Result<int> watch(const Dir& dir, bool moved_in, bool created, bool touched);
  int fd() const { return fd_.get(); }
  // Everything that is queued now; never blocks; empty where nothing is.
  base::Result<std::vector<WatchRecord>> read();

 private:
  explicit Inotify(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace intray::sys
