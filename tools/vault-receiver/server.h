// Purpose:    the server loop: one thread, epoll, a queue of deadlines.
// Trust:      clients are hostile; none can stop the loop or make it wait.
// Thread use: one thread; SIGTERM and SIGINT must be blocked and are read from a descriptor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "vault-receiver/connection.h"
#include "vault-receiver/exchange.h"
#include "vault-receiver/fd.h"
#include "vault-receiver/listener.h"

namespace intray::vault_receiver {

class Server {
 public:
  Server(Service& service, Fd listener, std::size_t connections_max)
      : service_(service), listener_(std::move(listener)), connections_max_(connections_max) {}

  // Serves until SIGTERM or SIGINT, then answers what is in work, kStopGrace at most. Errors: kIo: a system call that
  // can't fail, failed, or the request log could not be written; connections are closed
  // then, and requests that came together with the failed one may have been answered.
  base::Result<void> run();

 private:
  base::Result<void> set_up();
  void accept_clients();
  void watch_listener(bool on);
  void handle(Connection& connection, std::uint32_t events);
  void handle_deadline(Connection& connection);
  // Goes on until the connection waits for something; closes it where it ends.
  void go_on(Connection& connection);
  bool read_request(Connection& connection);
  bool follow(Connection& connection, Step step);
  bool send(Connection& connection);
  void refuse(Connection& connection, const Refusal& refusal);
  // Brings epoll in step with where the connection stands.
  void watch(Connection& connection);
  // The same, and its deadline.
  void settle(Connection& connection);
  void set_deadline(Connection& connection, std::optional<base::BootTime> deadline);
  void close(Connection& connection);
  void begin_stop();
  int wait_ms() const;

  Service& service_;
  Fd listener_;
  std::size_t connections_max_;
  Fd epoll_;
  Fd signals_;
  bool listener_watched_ = false;
  std::uint64_t last_connection_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::set<std::pair<base::BootTime, std::uint64_t>> deadlines_;
  std::optional<base::BootTime> stop_by_;
};

}  // namespace intray::vault_receiver
