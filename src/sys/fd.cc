#include "sys/fd.h"

#include <unistd.h>

namespace intray::sys {

// Not restarted after EINTR: on Linux the descriptor is gone whatever close says, and a second close could hit a
// stranger's. A lost write error is no loss here, since nothing counts as written before a sync.
void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace intray::sys
