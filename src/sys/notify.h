// Purpose:    sd_notify(3) over a datagram socket that is opened and connected before the work starts.
// Thread use: one thread.
#pragma once

#include <string_view>

#include "sys/fd.h"

namespace intray::sys {

class Notifier {
 public:
  // Connects to $NOTIFY_SOCKET; without it every notify() is a no-op.
  static Notifier from_environment();
  Notifier() = default;
  // "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=…". Best effort, never blocks.
  void notify(std::string_view state) const;

 private:
  explicit Notifier(Fd fd) : fd_(static_cast<Fd&&>(fd)) {}
  Fd fd_;
};

}  // namespace intray::sys
