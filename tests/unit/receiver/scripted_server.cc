#include "scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace intray::test {
namespace {

constexpr int kRequestWait_ms = 10'000;
constexpr int kPollStep_ms = 10;

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return std::tolower(x) == std::tolower(y); });
}

sockaddr_storage loopback(bool ipv6, std::uint16_t port, socklen_t& bytes) {
  sockaddr_storage out{};
  if (ipv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    address.sin6_port = htons(port);
    std::memcpy(&out, &address, bytes = sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    std::memcpy(&out, &address, bytes = sizeof address);
  }
  return out;
}

sys::Fd listen_on_loopback(bool ipv6, std::uint16_t& port) {
  sys::Fd fd(::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t bytes = 0;
  sockaddr_storage address = loopback(ipv6, 0, bytes);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!fd.valid() || ::bind(fd.get(), generic, bytes) != 0 || ::listen(fd.get(), 256) != 0 ||
      ::getsockname(fd.get(), generic, &bytes) != 0)
    throw std::runtime_error("no listening socket");
  sockaddr_in in{};
  std::memcpy(&in, &address, sizeof in);  // the port stands at the same place in both families
  port = ntohs(in.sin_port);
  return fd;
}

}  // namespace

std::optional<std::string> RawRequest::header(std::string_view name) const {
  std::size_t at = head.find("\r\n");
  while (at != std::string::npos && at + 2 < head.size()) {
    const std::size_t start = at + 2;
    at = head.find("\r\n", start);
    const std::string_view line = std::string_view(head).substr(start, at - start);
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos && same_word(line.substr(0, colon), name))
      return std::string(line.substr(colon + 2));
  }
  return std::nullopt;
}

std::optional<RawRequest> Peer::request() {
  RawRequest out;
  out.connection = number_;
  std::size_t wanted = 0;
  for (int waited_ms = 0; waited_ms < kRequestWait_ms && !*stop_;) {
    if (const std::size_t end = unread_.find("\r\n\r\n"); end != std::string::npos) {
      out.head = unread_.substr(0, end + 4);
      wanted =
          out.head.size() + static_cast<std::size_t>(std::atol(out.header("Content-Length").value_or("0").c_str()));
      if (unread_.size() >= wanted) {
        out.body = unread_.substr(out.head.size(), wanted - out.head.size());
        unread_.erase(0, wanted);
        return out;
      }
    }
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, kPollStep_ms) == 0) {
      waited_ms += kPollStep_ms;
      continue;
    }
    std::array<char, 65536> buffer{};
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (n <= 0) return std::nullopt;
    unread_.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return std::nullopt;
}

bool Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (*stop_) return false;
    if (::poll(&ready, 1, kPollStep_ms) == 0) continue;
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void Peer::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void Peer::pause(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!*stop_ && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

ScriptedServer::ScriptedServer(Serve serve, bool ipv6)
    : serve_(std::move(serve)),
      ipv6_(ipv6),
      listener_(listen_on_loopback(ipv6, port_)),
      acceptor_([this] { accept_all(); }) {}

ScriptedServer::~ScriptedServer() {
  stop_ = true;
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::string ScriptedServer::address() const { return (ipv6_ ? "[::1]:" : "127.0.0.1:") + std::to_string(port_); }

void ScriptedServer::record(const RawRequest& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
}

std::vector<RawRequest> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::accept_all() {
  while (!stop_) {
    pollfd ready{listener_.get(), POLLIN, 0};
    if (::poll(&ready, 1, kPollStep_ms) <= 0) continue;
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const int number = ++accepted_;
    threads_.emplace_back([this, fd, number] {
      const sys::Fd owner(fd);
      Peer peer;
      peer.fd_ = fd;
      peer.number_ = number;
      peer.stop_ = &stop_;
      serve_(*this, peer);
    });
  }
}

std::string reply(std::string_view status, std::string_view body, std::string_view more) {
  std::string out = "HTTP/1.1 ";
  out.append(status).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n");
  return out.append(more).append("\r\n").append(body);
}

ScriptedServer::Serve answer_always(std::string text) {
  return [text = std::move(text)](ScriptedServer& server, Peer& peer) {
    while (const auto request = peer.request()) {
      server.record(*request);
      if (!peer.send(text)) return;
    }
  };
}

std::uint16_t closed_port() {
  std::uint16_t port = 0;
  const sys::Fd closes_at_return = listen_on_loopback(false, port);
  return port;
}

}  // namespace intray::test
