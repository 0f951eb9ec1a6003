#include "vault-receiver/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>

namespace intray::vault_receiver {
namespace {

using base::ErrorCode;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
  bool loopback = false;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }  // NOLINT(*-reinterpret-cast): the sockets API
};

std::optional<Address> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  std::uint16_t port = 0;
  const char* const end = port_text.data() + port_text.size();
  const auto [stop, error] = std::from_chars(port_text.data(), end, port);
  if (port_text.empty() || error != std::errc{} || stop != end) return std::nullopt;

  Address out;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);  // NOLINT(*-reinterpret-cast)
    if (::inet_pton(AF_INET6, std::string(host).c_str(), &v6->sin6_addr) != 1) return std::nullopt;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.length = sizeof(sockaddr_in6);
    out.loopback = std::string_view(host) == "::1";
    return out;
  }
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&out.storage);  // NOLINT(*-reinterpret-cast)
  if (::inet_pton(AF_INET, std::string(host).c_str(), &v4->sin_addr) != 1) return std::nullopt;
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  out.length = sizeof(sockaddr_in);
  out.loopback = (ntohl(v4->sin_addr.s_addr) >> 24U) == 127U;
  return out;
}

}  // namespace

base::Result<Listener> listen_at(std::string_view address, bool any_allowed) {
  const std::string text(address);
  auto parsed = parse_address(address);
  if (!parsed) return base::fail(ErrorCode::kInvalid, "--listen " + text + ": not ADDRESS:PORT");
  if (!parsed->loopback && !any_allowed) {
    return base::fail(ErrorCode::kDenied, "--listen " + text + ": not a loopback address; --listen-any allows it");
  }
  Listener out;
  out.socket = Fd(::socket(parsed->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!out.socket) return base::fail_errno(errno, "socket");
  const int on = 1;
  ::setsockopt(out.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(out.socket.get(), parsed->get(), parsed->length) != 0) return base::fail_errno(errno, "bind " + text);
  if (::listen(out.socket.get(), SOMAXCONN) != 0) return base::fail_errno(errno, "listen " + text);

  Address bound;
  bound.length = sizeof bound.storage;
  if (::getsockname(out.socket.get(), bound.get(), &bound.length) != 0) return base::fail_errno(errno, "getsockname");
  // sin_port and sin6_port lie at the same place.
  const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&bound.storage);  // NOLINT(*-reinterpret-cast)
  out.address = text.substr(0, text.rfind(':') + 1) + std::to_string(ntohs(v4->sin_port));
  return out;
}

}  // namespace intray::vault_receiver
