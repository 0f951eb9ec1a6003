#include "sys/inotify.h"

#include <sys/inotify.h>  // NOLINT(readability-duplicate-include): the system's, not ours
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "limits.h"
#include "sys/call.h"

namespace intray::sys {
namespace {

std::optional<WatchEvent> event_of(std::uint32_t mask, bool named) {
  if ((mask & IN_Q_OVERFLOW) != 0) return WatchEvent::kOverflow;
  if ((mask & (IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF)) != 0) return WatchEvent::kLost;
  if (!named) return std::nullopt;  // the directory's own attributes
  if ((mask & IN_MOVED_TO) != 0) return WatchEvent::kMovedIn;
  if ((mask & IN_CREATE) != 0) return WatchEvent::kCreated;
  if ((mask & IN_ATTRIB) != 0) return WatchEvent::kTouched;
  return std::nullopt;
}

}  // namespace

base::Result<Inotify> Inotify::create() {
  Fd fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd.valid()) return fail_call(errno, "inotify_init1");
  return Inotify(std::move(fd));
}

base::Result<int> Inotify::watch(const Dir& dir, bool moved_in, bool created, bool touched) {
  std::uint32_t mask = IN_ONLYDIR | IN_DELETE_SELF | IN_MOVE_SELF;
  if (moved_in) mask |= IN_MOVED_TO;
  if (created) mask |= IN_CREATE;
  if (touched) mask |= IN_ATTRIB;
  const int watch = ::inotify_add_watch(fd_.get(), ("/proc/self/fd/" + std::to_string(dir.fd())).c_str(), mask);
  if (watch < 0) return fail_call(errno, dir.path() + ": inotify_add_watch");
  return watch;
}

base::Result<std::vector<WatchRecord>> Inotify::read() {
  std::vector<WatchRecord> records;
  std::vector<char> buffer(limits::kInotifyBufferBytes);
  for (int reads = 0; reads < limits::kInotifyReadsMax; ++reads) {
    const ssize_t n = ::read(fd_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {
      if (records.empty()) return fail_call(errno, "inotify read");
      break;
    }
    const auto filled = static_cast<std::size_t>(n);
    std::size_t position = 0;
    while (position + sizeof(inotify_event) <= filled) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + position, sizeof event);
      const char* const name = buffer.data() + position + sizeof event;
      position += sizeof event + event.len;
      const auto what = event_of(event.mask, event.len > 0);
      if (!what) continue;
      records.push_back({.watch = *what == WatchEvent::kOverflow ? -1 : event.wd,
                         .event = *what,
                         .name = event.len > 0 ? std::string(name, ::strnlen(name, event.len)) : std::string()});
    }
    if (filled < buffer.size() / 2) break;  // the queue was drained; asking again would only say so
  }
  return records;
}

}  // namespace intray::sys
