// Purpose:    the connections that libcurl holds: which are in use, and which may still carry a request.
// Trust:      a server's hint about its idle limit only ever shortens ours.
// Thread use: one thread.
//
// libcurl does not say which connection it reuses; the local port does, since all of them go to one address.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/clock.h"

namespace intray::receiver {

struct Connection {
  int fd = -1;
  std::uint64_t serial = 0;  // never repeats, unlike the descriptor's number
  std::uint16_t local_port = 0;
  bool busy = true;      // a transfer has it
  bool dead = false;     // something came while it was idle: its end, or words that nobody asked for
  bool retired = false;  // no further request
  base::BootTime idle_since{};
  base::Micros reuse_limit{};  // idle for longer: not used

  // Registration with the event loop.
  bool watched = false;
  bool watched_for_write = false;
  bool polled = false;  // libcurl waits for it; otherwise we watch for its end

  bool fit() const { return !dead && !retired; }
  bool usable(base::BootTime now) const { return fit() && now - idle_since < reuse_limit; }
};

class Connections {
 public:
  explicit Connections(base::Micros reuse_limit) : reuse_limit_(reuse_limit) {}

  // False where the local port is in the table already; then nothing is added.
  bool add(int fd, std::uint16_t local_port, base::BootTime now);
  void remove(int fd);
  Connection* find(int fd);
  Connection* find_port(std::uint16_t local_port);
  Connection* find_serial(std::uint64_t serial);

  // A transfer is over and the connection still there.
  void release(std::uint64_t serial, base::BootTime now, std::optional<base::Micros> server_limit);
  int usable_idle(base::BootTime now) const;
  bool any_alive(base::BootTime now) const;  // in use, or usable
  int size() const { return static_cast<int>(by_fd_.size()); }
  std::unordered_map<int, Connection>& all() { return by_fd_; }

 private:
  base::Micros reuse_limit_;
  std::uint64_t last_serial_ = 0;
  std::unordered_map<int, Connection> by_fd_;
  std::unordered_map<std::uint16_t, int> fd_of_port_;
  std::unordered_map<std::uint64_t, int> fd_of_serial_;
};

}  // namespace intray::receiver
