#include "sys/notify.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "sys/process.h"

namespace intray::sys {

Notifier Notifier::from_environment() {
  const auto path = environment("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!path || path->empty() || path->size() >= sizeof(address.sun_path)) return {};
  std::memcpy(address.sun_path, path->data(), path->size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // abstract name
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
  // By number: an executor's own connect() (receiver/connect_shim.cc) refuses everything but received descriptors.
  if (!fd.valid() || ::syscall(SYS_connect, fd.get(), &address, length) != 0) return {};
  return Notifier(std::move(fd));
}

void Notifier::notify(std::string_view state) const {
  if (!fd_.valid()) return;
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), state.data(), state.size());
}

}  // namespace intray::sys
