#include "sys/change_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string>

namespace intray::sys {

base::Result<ChangeWatch> ChangeWatch::open(const Dir& dir) {
  Fd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd.valid()) return base::fail_errno(errno, "inotify_init1");
  const std::string path = "/proc/self/fd/" + std::to_string(dir.fd());
  if (::inotify_add_watch(fd.get(), path.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE) < 0)
    return base::fail_errno(errno, "inotify_add_watch " + dir.path());
  return ChangeWatch(std::move(fd));
}

bool ChangeWatch::wait(base::Micros at_most) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(at_most, base::Micros{0})).count();
  pollfd interest{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  const int timeout = static_cast<int>(std::min<std::int64_t>(left, std::numeric_limits<int>::max()));
  if (::poll(&interest, fd_.valid() ? 1 : 0, timeout) <= 0) return false;
  // What happened does not matter, only that it is not told twice.
  std::array<char, 4096> events{};
  while (::read(fd_.get(), events.data(), events.size()) > 0) {
  }
  return true;
}

}  // namespace intray::sys
