#include "receiver/connections.h"

#include <algorithm>

namespace intray::receiver {

bool Connections::add(int fd, std::uint16_t local_port, base::BootTime now) {
  if (fd_of_port_.contains(local_port) || by_fd_.contains(fd)) return false;
  const std::uint64_t serial = ++last_serial_;
  by_fd_.emplace(
      fd,
      Connection{.fd = fd, .serial = serial, .local_port = local_port, .idle_since = now, .reuse_limit = reuse_limit_});
  fd_of_port_.emplace(local_port, fd);
  fd_of_serial_.emplace(serial, fd);
  return true;
}

void Connections::remove(int fd) {
  const auto found = by_fd_.find(fd);
  if (found == by_fd_.end()) return;
  fd_of_port_.erase(found->second.local_port);
  fd_of_serial_.erase(found->second.serial);
  by_fd_.erase(found);
}

Connection* Connections::find(int fd) {
  const auto found = by_fd_.find(fd);
  return found == by_fd_.end() ? nullptr : &found->second;
}

Connection* Connections::find_port(std::uint16_t local_port) {
  const auto found = fd_of_port_.find(local_port);
  return found == fd_of_port_.end() ? nullptr : find(found->second);
}

Connection* Connections::find_serial(std::uint64_t serial) {
  const auto found = fd_of_serial_.find(serial);
  return found == fd_of_serial_.end() ? nullptr : find(found->second);
}

void Connections::release(std::uint64_t serial, base::BootTime now, std::optional<base::Micros> server_limit) {
  Connection* const connection = find_serial(serial);
  if (connection == nullptr) return;
  connection->busy = false;
  connection->idle_since = now;
  if (server_limit) connection->reuse_limit = std::min(connection->reuse_limit, *server_limit);
}

int Connections::usable_idle(base::BootTime now) const {
  return static_cast<int>(std::ranges::count_if(
      by_fd_, [now](const auto& entry) { return !entry.second.busy && entry.second.usable(now); }));
}

bool Connections::any_alive(base::BootTime now) const {
  return std::ranges::any_of(by_fd_,
                             [now](const auto& entry) { return entry.second.busy || entry.second.usable(now); });
}

}  // namespace intray::receiver
