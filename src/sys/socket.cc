#include "sys/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>  // NOLINT(readability-duplicate-include): the system's, not ours

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "sys/call.h"

namespace intray::sys {
namespace {

constexpr std::size_t kIpv4Bytes = 4;

// The socket API takes every kind of address through one pointer type.
sockaddr* generic(sockaddr_storage* address) {
  return reinterpret_cast<sockaddr*>(address);  // NOLINT(*-reinterpret-cast)
}

std::optional<SocketAddress> address_of(const sockaddr* address, std::size_t bytes) {
  SocketAddress out;
  if (address->sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    sockaddr_in in{};
    std::memcpy(&in, address, sizeof in);
    std::memcpy(out.bytes.data(), &in.sin_addr, kIpv4Bytes);
    out.port = ntohs(in.sin_port);
    return out;
  }
  if (address->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    sockaddr_in6 in{};
    std::memcpy(&in, address, sizeof in);
    out.is_ipv6 = true;
    std::memcpy(out.bytes.data(), &in.sin6_addr, out.bytes.size());
    out.port = ntohs(in.sin6_port);
    return out;
  }
  return std::nullopt;
}

base::Result<int> integer_option(int fd, int option, const char* name) {
  int value = 0;
  socklen_t bytes = sizeof value;
  if (::getsockopt(fd, SOL_SOCKET, option, &value, &bytes) != 0) return fail_call(errno, name);
  return value;
}

base::Result<void> expect_option(int fd, int option, const char* name, int expected) {
  const int found = INTRAY_TRY(integer_option(fd, option, name));
  if (found == expected) return {};
  return base::fail(base::ErrorCode::kDenied,
                    std::string(name) + " is " + std::to_string(found) + ", not " + std::to_string(expected));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0 || text.starts_with('0'))
    return std::nullopt;
  return port;
}

}  // namespace

std::string SocketAddress::str() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size()) == nullptr) return "?";
  const std::string host = text.data();
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

base::Result<SocketAddress> parse_address(const std::string& text) {
  const auto bad = [&text] { return base::fail(base::ErrorCode::kInvalid, "not a numeric address and port: " + text); };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return bad();
  const std::optional<std::uint16_t> port = parse_port(std::string_view(text).substr(colon + 1));
  if (!port) return bad();
  SocketAddress out;
  out.port = *port;
  std::string host = text.substr(0, colon);
  out.is_ipv6 = host.starts_with('[') && host.ends_with(']');
  if (out.is_ipv6) host = host.substr(1, host.size() - 2);
  if (::inet_pton(out.is_ipv6 ? AF_INET6 : AF_INET, host.c_str(), out.bytes.data()) != 1) return bad();
  return out;
}

base::Result<void> check_peer(int fd, const SocketAddress& peer) {
  INTRAY_TRY(expect_option(fd, SO_DOMAIN, "SO_DOMAIN", peer.is_ipv6 ? AF_INET6 : AF_INET));
  INTRAY_TRY(expect_option(fd, SO_TYPE, "SO_TYPE", SOCK_STREAM));
  INTRAY_TRY(expect_option(fd, SO_PROTOCOL, "SO_PROTOCOL", IPPROTO_TCP));
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (::getpeername(fd, generic(&storage), &bytes) != 0) {
    if (errno == ENOTCONN) return base::fail(base::ErrorCode::kUnavailable, "socket is not connected", errno);
    return fail_call(errno, "getpeername");
  }
  const std::optional<SocketAddress> found = address_of(generic(&storage), bytes);
  if (!found || *found != peer)
    return base::fail(base::ErrorCode::kDenied,
                      "peer is " + (found ? found->str() : "unknown") + ", not " + peer.str());
  // On one host a dial to a port that nobody listens on can meet itself.
  sockaddr_storage local{};
  bytes = sizeof local;
  if (::getsockname(fd, generic(&local), &bytes) != 0) return fail_call(errno, "getsockname");
  if (address_of(generic(&local), bytes) == found)
    return base::fail(base::ErrorCode::kUnavailable, "socket is connected to itself");
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return fail_call(errno, "fcntl");
  if ((flags & O_NONBLOCK) == 0 && ::fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) != 0) return fail_call(errno, "fcntl");
  return {};
}

base::Result<std::uint16_t> local_port(int fd) {
  sockaddr_storage storage{};
  socklen_t bytes = sizeof storage;
  if (::getsockname(fd, generic(&storage), &bytes) != 0) return fail_call(errno, "getsockname");
  const std::optional<SocketAddress> found = address_of(generic(&storage), bytes);
  if (!found) return base::fail(base::ErrorCode::kInvalid, "not an internet socket");
  return found->port;
}

Quiet quietness(int fd) {
  char byte = 0;
  ssize_t n = 0;
  do n = ::recv(fd, &byte, 1, MSG_PEEK);
  while (n < 0 && errno == EINTR);
  if (n > 0) return Quiet::kSpeaking;
  return n < 0 && errno == EAGAIN ? Quiet::kYes : Quiet::kClosed;
}

// ENOTCONN: it is down already, which is what was asked for.
void shut_down(int fd) { static_cast<void>(::shutdown(fd, SHUT_RDWR)); }

base::Result<StreamPair> make_stream_pair() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return fail_call(errno, "socketpair");
  return StreamPair{.ours = Fd(ends[0]), .theirs = Fd(ends[1])};
}

}  // namespace intray::sys
