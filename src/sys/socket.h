// Purpose:    connected stream sockets that somebody else made: addresses, checks, and whether the peer is still quiet.
// Trust:      descriptors come from a less trusted process; nothing about one is believed before check_peer().
// Thread use: values and calls on the caller's own descriptors.
//
// Nothing here makes, binds or connects a network socket.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace intray::sys {

// An IPv4 or IPv6 address and a port.
struct SocketAddress {
  bool is_ipv6 = false;
  std::array<std::uint8_t, 16> bytes{};  // network order; the first 4 of an IPv4 address
  std::uint16_t port = 0;

  bool operator==(const SocketAddress&) const = default;
  std::string str() const;  // "127.0.0.1:8080", "[::1]:443"
};

// The form that str() gives: numbers only, nothing is looked up. Port 1 to 65535. kInvalid otherwise.
base::Result<SocketAddress> parse_address(const std::string& text);

// A TCP stream of the peer's address family, connected to exactly `peer`. The descriptor is made non-blocking.
// kDenied: it is something else; kUnavailable: it is no longer connected, or to itself.
base::Result<void> check_peer(int fd, const SocketAddress& peer);
base::Result<std::uint16_t> local_port(int fd);

// What a connection looks like on which the peer has nothing to say yet.
enum class Quiet {
  kYes,       // open, and nothing was received
  kSpeaking,  // bytes came unasked
  kClosed,    // the peer closed or reset it
};
Quiet quietness(int fd);  // requires a non-blocking socket; takes nothing out

// Ends both directions at once: the peer sees the end, we read it. The descriptor stays open. Never fails visibly.
void shut_down(int fd);

// Two connected, non-blocking local stream sockets, close-on-exec. For self-tests at start.
struct StreamPair {
  Fd ours;
  Fd theirs;
};
base::Result<StreamPair> make_stream_pair();

}  // namespace intray::sys
