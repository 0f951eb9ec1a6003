#include "vault-receiver/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "vault-receiver/bounds.h"

namespace intray::vault_receiver {
namespace {

using Phase = Connection::Phase;
using Io = Connection::Io;

// Connections are numbered from 1, so these are free as epoll tags.
constexpr std::uint64_t kListenerTag = 0;
constexpr std::uint64_t kSignalTag = UINT64_MAX;

epoll_event event_for(std::uint32_t mask, std::uint64_t tag) {
  epoll_event event{};
  event.events = mask;
  event.data.u64 = tag;
  return event;
}

}  // namespace

base::Result<void> Server::set_up() {
  epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return base::fail_errno(errno, "epoll_create1");
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  signals_ = Fd(::signalfd(-1, &stop_signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_) return base::fail_errno(errno, "signalfd");
  epoll_event event = event_for(EPOLLIN, kSignalTag);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, signals_.get(), &event) != 0)
    return base::fail_errno(errno, "epoll_ctl");
  watch_listener(true);
  return {};
}

base::Result<void> Server::run() {
  if (auto ready = set_up(); !ready) return ready;
  std::array<epoll_event, 256> events{};
  while (!stop_by_ || !connections_.empty()) {
    const int n = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms());
    if (n < 0 && errno != EINTR) return base::fail_errno(errno, "epoll_wait");
    for (int i = 0; i < n; ++i) {
      const auto& event = events.at(static_cast<std::size_t>(i));
      if (event.data.u64 == kListenerTag) {
        accept_clients();
      } else if (event.data.u64 == kSignalTag) {
        begin_stop();
      } else if (const auto found = connections_.find(event.data.u64); found != connections_.end()) {
        handle(*found->second, event.events);
      }
    }
    const base::BootTime now = service_.clock.boot();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      handle_deadline(*connections_.at(deadlines_.begin()->second));
    }
    if (stop_by_ && *stop_by_ <= now) break;
    if (service_.log.broken()) return base::fail(base::ErrorCode::kIo, "the request log can't be written");
  }
  return {};
}

int Server::wait_ms() const {
  std::optional<base::BootTime> next;
  if (!deadlines_.empty()) next = deadlines_.begin()->first;
  if (stop_by_) next = next ? std::min(*next, *stop_by_) : *stop_by_;
  if (!next) return -1;
  // Rounded up: a wait that ends early would spin until the deadline.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - service_.clock.boot()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Server::watch_listener(bool on) {
  if (on == listener_watched_ || !listener_) return;
  epoll_event event = event_for(EPOLLIN, kListenerTag);
  ::epoll_ctl(epoll_.get(), on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_.get(), &event);
  listener_watched_ = on;
}

void Server::accept_clients() {
  while (listener_ && connections_.size() < connections_max_) {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Out of descriptors: those who wait are accepted when a connection closes.
      if (errno == EMFILE || errno == ENFILE) watch_listener(connections_.empty());
      return;
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::uint64_t number = ++last_connection_;
    auto made = std::make_unique<Connection>(std::move(socket), number);
    Connection& connection = *made;
    epoll_event event = event_for(connection.interest(), number);
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.fd(), &event) != 0) continue;
    connection.registered = connection.interest();
    connections_.emplace(number, std::move(made));
    settle(connection);
  }
  watch_listener(connections_.size() < connections_max_);
}

void Server::handle(Connection& connection, std::uint32_t events) {
  const bool dead = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (connection.phase == Phase::kWaiting && dead) {
    // The client is gone, its request is not: what was accepted is carried out.
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.fd(), nullptr);
    connection.unregistered = true;
    return;
  }
  if (connection.phase == Phase::kHeld && dead) return close(connection);
  if (dead || (events & EPOLLIN) != 0) {
    const Io io = connection.receive();
    if (io == Io::kFailed && connection.phase != Phase::kSending) return close(connection);
    if (connection.phase == Phase::kDraining) connection.unread.clear();
    if (connection.ended && (connection.phase == Phase::kHeld || connection.phase == Phase::kDraining)) {
      return close(connection);
    }
  }
  go_on(connection);
}

void Server::go_on(Connection& connection) {
  bool on = true;
  while (on) {
    if (connection.phase == Phase::kReading) {
      on = read_request(connection);
    } else if (connection.phase == Phase::kSending) {
      on = send(connection);
    } else {
      watch(connection);
      on = false;
    }
  }
}

// These return false when there is nothing more to do now; the connection may be gone then.

bool Server::read_request(Connection& connection) {
  const std::size_t taken = connection.reader.take(connection.unread);
  connection.unread.erase(0, taken);
  switch (connection.reader.state()) {
    case RequestReader::State::kComplete:
      connection.request_began.reset();
      connection.exchange.emplace(service_, connection.number(), connection.reader.release());
      return follow(connection, connection.exchange->advance());
    case RequestReader::State::kRefused: refuse(connection, connection.reader.refusal()); return true;
    case RequestReader::State::kReading: break;
  }
  if (connection.ended) return close(connection), false;
  if (connection.reader.take_continue_wish()) {
    connection.outgoing = "HTTP/1.1 100 Continue\r\n\r\n";
    connection.sending_continue = true;
    connection.phase = Phase::kSending;
    return true;
  }
  settle(connection);
  return false;
}

bool Server::follow(Connection& connection, Step step) {
  if (const auto* wait = std::get_if<Wait>(&step)) {
    connection.phase = Phase::kWaiting;
    settle(connection);
    set_deadline(connection, service_.clock.boot() + wait->time);
    return false;
  }
  auto& ending = std::get<Ending>(step);
  connection.then = ending.then;
  if (ending.then == Ending::Then::kHold) {
    connection.phase = Phase::kHeld;
    if (connection.ended || connection.unregistered) return close(connection), false;
    settle(connection);
    return false;
  }
  if (ending.then == Ending::Then::kReset) {
    connection.reset_on_close();
    close(connection);
    return false;
  }
  connection.outgoing = std::move(ending.bytes);
  connection.phase = Phase::kSending;
  return true;
}

void Server::refuse(Connection& connection, const Refusal& refusal) {
  connection.outgoing = answer_refusal(service_, connection.number(), refusal);
  connection.then = Ending::Then::kClose;
  connection.drain = true;
  connection.phase = Phase::kSending;
}

bool Server::send(Connection& connection) {
  const Io io = connection.unregistered ? Io::kFailed : connection.flush();
  if (io == Io::kBlocked) {
    settle(connection);
    return false;
  }
  if (io == Io::kFailed) {
    if (connection.exchange) connection.exchange->lost();
    close(connection);
    return false;
  }
  if (std::exchange(connection.sending_continue, false)) {
    connection.phase = Phase::kReading;
    return true;
  }
  connection.exchange.reset();
  if (connection.then == Ending::Then::kClose && connection.drain && !connection.ended) {
    connection.shut_down_sending();
    connection.unread.clear();
    connection.phase = Phase::kDraining;
    settle(connection);
    return false;
  }
  if (connection.then == Ending::Then::kClose || (stop_by_ && connection.unread.empty())) {
    close(connection);
    return false;
  }
  connection.phase = Phase::kReading;
  set_deadline(connection, std::nullopt);
  return true;
}

void Server::handle_deadline(Connection& connection) {
  set_deadline(connection, std::nullopt);
  switch (connection.phase) {
    case Phase::kWaiting:
      if (follow(connection, connection.exchange->advance())) go_on(connection);
      return;
    case Phase::kReading:
      if (connection.idle()) return close(connection);
      refuse(connection, Refusal{408, "request took too long"});
      return go_on(connection);
    case Phase::kSending:
      if (connection.exchange) connection.exchange->lost();
      connection.reset_on_close();
      return close(connection);
    case Phase::kHeld:
    case Phase::kDraining: return close(connection);
  }
}

void Server::watch(Connection& connection) {
  const std::uint32_t mask = connection.interest();
  if (mask == connection.registered || connection.unregistered) return;
  epoll_event event = event_for(mask, connection.number());
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd(), &event);
  connection.registered = mask;
}

void Server::settle(Connection& connection) {
  watch(connection);
  const base::BootTime now = service_.clock.boot();
  std::optional<base::BootTime> deadline;
  switch (connection.phase) {
    case Phase::kReading:
      if (!connection.idle()) {
        // From the first byte on: a client that sends one now and then gains nothing.
        if (!connection.request_began) connection.request_began = now;
        deadline = *connection.request_began + kRequestTime;
      } else if (service_.idle.count() > 0) {
        deadline = now + service_.idle;
      }
      break;
    case Phase::kSending: deadline = now + kSendTime; break;
    case Phase::kDraining: deadline = now + kDrainTime; break;
    case Phase::kWaiting:
    case Phase::kHeld: break;
  }
  set_deadline(connection, deadline);
}

void Server::set_deadline(Connection& connection, std::optional<base::BootTime> deadline) {
  if (connection.deadline) deadlines_.erase({*connection.deadline, connection.number()});
  connection.deadline = deadline;
  if (deadline) deadlines_.emplace(*deadline, connection.number());
}

void Server::close(Connection& connection) {
  set_deadline(connection, std::nullopt);
  connections_.erase(connection.number());
  watch_listener(!stop_by_.has_value());
}

void Server::begin_stop() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) > 0) {
  }
  if (stop_by_) return;
  watch_listener(false);
  listener_.close();
  service_.stopping = true;
  stop_by_ = service_.clock.boot() + kStopGrace;
  std::vector<Connection*> quiet;
  for (const auto& [number, connection] : connections_) {
    if (connection->phase != Phase::kWaiting && connection->phase != Phase::kSending) quiet.push_back(connection.get());
  }
  for (Connection* connection : quiet) close(*connection);
}

}  // namespace intray::vault_receiver
