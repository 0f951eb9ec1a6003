// Sockets: making one, dialling with one, listening on one, turning a connection elsewhere.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "attempt.h"

namespace intray::test {
namespace {

constexpr int kMptcp = 262;

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// What is looked at is the second call; where there is no socket, the first one's errno.
template <class Use>
std::function<long(const World&)> with_socket(int family, int type, int protocol, Use use) {
  return [=](const World& w) -> long {
    const long fd = call(SYS_socket, family, type, protocol);
    return fd < 0 ? -1 : use(w, fd);
  };
}

void add_families(Cases& cases) {
  struct Family {
    const char* name;
    int family, type, protocol;
    std::optional<Expected> paths_only = {};
  };
  // Landlock stops no socket from being made.
  const std::vector<Family> list{
      {"socket: TCP over IPv4", AF_INET, SOCK_STREAM, 0, Expected::kWorks},
      {"socket: TCP over IPv6", AF_INET6, SOCK_STREAM, 0},
      {"socket: UDP over IPv4", AF_INET, SOCK_DGRAM, 0, Expected::kWorks},
      {"socket: UDP over IPv6", AF_INET6, SOCK_DGRAM, 0},
      {"socket: multipath TCP", AF_INET, SOCK_STREAM, kMptcp},
      {"socket: SCTP", AF_INET, SOCK_STREAM, IPPROTO_SCTP},
      {"socket: raw", AF_INET, SOCK_RAW, IPPROTO_ICMP},
      {"socket: ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
      {"socket: local", AF_UNIX, SOCK_STREAM, 0, Expected::kWorks},
      {"socket: netlink", AF_NETLINK, SOCK_RAW, 0, Expected::kWorks},
      {"socket: packets", AF_PACKET, SOCK_RAW, 0},
      {"socket: virtual machines", 40, SOCK_STREAM, 0},
      {"socket: kernel crypto", 38, SOCK_SEQPACKET, 0},
      {"socket: XDP", 44, SOCK_RAW, 0},
      {"socket: Bluetooth", 31, SOCK_RAW, 0},
      {"socket: CAN", 29, SOCK_RAW, 1},
      {"socket: SMC", 43, SOCK_STREAM, 0},
  };
  for (const Family& f : list)
    cases.push_back({f.name,
                     [f](const World&) { return call(SYS_socket, f.family, f.type | SOCK_CLOEXEC, f.protocol); },
                     Expected::kKilled, Expected::kKilled, f.paths_only});
  cases.push_back({"socketpair",
                   [](const World&) {
                     std::array<int, 2> pair{};
                     return call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, pair.data());
                   },
                   Expected::kKilled, Expected::kKilled, Expected::kWorks});
}

// Where Landlock's rule for TCP ends: what it alone lets through shows why the filter must hold sockets.
void add_dialling(Cases& cases) {
  using enum Expected;
  const auto killed = [&](const char* name, std::optional<Expected> paths_only, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act), kKilled, kKilled, paths_only});
  };
  killed("dial TCP", kRefused, with_socket(AF_INET, SOCK_STREAM, 0, [](const World& w, long fd) {
           const sockaddr_in to = local(w.port);
           return call(SYS_connect, fd, &to, sizeof to);
         }));
  killed("dial by TCP fast open", std::nullopt, with_socket(AF_INET, SOCK_STREAM, 0, [](const World& w, long fd) {
           const sockaddr_in to = local(w.port);
           return call(SYS_sendto, fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, &to, sizeof to);
         }));
  killed("dial multipath TCP", std::nullopt, with_socket(AF_INET, SOCK_STREAM, kMptcp, [](const World& w, long fd) {
           const sockaddr_in to = local(w.port);
           return call(SYS_connect, fd, &to, sizeof to);
         }));
  killed("send a datagram", kWorks, with_socket(AF_INET, SOCK_DGRAM, 0, [](const World& w, long fd) {
           const sockaddr_in to = local(w.port);
           return call(SYS_sendto, fd, "x", 1, MSG_NOSIGNAL, &to, sizeof to);
         }));
  killed("dial a local socket by its path", kWorks, with_socket(AF_UNIX, SOCK_STREAM, 0, [](const World& w, long fd) {
           sockaddr_un to{};
           to.sun_family = AF_UNIX;
           std::strncpy(&to.sun_path[0], w.path("elsewhere/unix.sock").c_str(), sizeof to.sun_path - 1);
           return call(SYS_connect, fd, &to, sizeof to);
         }));
  killed("listen without binding", kWorks,
         with_socket(AF_INET, SOCK_STREAM, 0, [](const World&, long fd) { return call(SYS_listen, fd, 1); }));
  killed("bind TCP", kRefused, with_socket(AF_INET, SOCK_STREAM, 0, [](const World&, long fd) {
           const sockaddr_in to = local(0);
           return call(SYS_bind, fd, &to, sizeof to);
         }));
  killed("bind UDP", kWorks, with_socket(AF_INET, SOCK_DGRAM, 0, [](const World&, long fd) {
           const sockaddr_in to = local(0);
           return call(SYS_bind, fd, &to, sizeof to);
         }));
}

void add_on_the_connection(Cases& cases) {
  const auto killed = [&](const char* name, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act)});
  };
  killed("disconnect the connection", [](const World& w) {
    const sockaddr to{.sa_family = AF_UNSPEC, .sa_data = {}};
    return call(SYS_connect, w.live, &to, sizeof to);
  });
  killed("dial once more on the connection", [](const World& w) {
    const sockaddr_in to = local(w.port);
    return call(SYS_connect, w.live, &to, sizeof to);
  });
  killed("dial on the channel", [](const World& w) {
    const sockaddr_in to = local(w.port);
    return call(SYS_connect, w.channel, &to, sizeof to);
  });
  killed("bind the connection", [](const World& w) {
    const sockaddr_in to = local(0);
    return call(SYS_bind, w.live, &to, sizeof to);
  });
  killed("listen on the connection", [](const World& w) { return call(SYS_listen, w.live, 1); });
  killed("accept", [](const World& w) { return call(SYS_accept, w.live, nullptr, nullptr); });
  killed("accept4", [](const World& w) { return call(SYS_accept4, w.live, nullptr, nullptr, 0); });
  killed("send to an address", [](const World& w) {
    const sockaddr_in to = local(w.port);
    return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL, &to, sizeof to);
  });
  killed("send to an address of no length", [](const World& w) {
    const sockaddr_in to = local(w.port);
    return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL, &to, 0);
  });
  killed("send with a length and no address",
         [](const World& w) { return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL, nullptr, sizeof(sockaddr_in)); });
  killed("send with fast open",
         [](const World& w) { return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL | MSG_FASTOPEN, nullptr, 0); });
  killed("send out of band",
         [](const World& w) { return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL | MSG_OOB, nullptr, 0); });
  killed("send without MSG_NOSIGNAL", [](const World& w) { return call(SYS_sendto, w.live, "x", 1, 0, nullptr, 0); });
  killed("send with bit 32 in the flags",
         [](const World& w) { return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL | kBit32, nullptr, 0); });
  killed("send with bit 32 in the address's length",
         [](const World& w) { return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL, nullptr, kBit32); });
  killed("receive with an address", [](const World& w) {
    std::array<char, 64> from{};
    return call(SYS_recvfrom, w.live, nullptr, 0, MSG_DONTWAIT, from.data(), 0);
  });
  killed("receive out of band", [](const World& w) {
    std::array<char, 1> byte{};
    return call(SYS_recvfrom, w.live, byte.data(), 1, MSG_OOB, nullptr, nullptr);
  });
  killed("receive the error queue", [](const World& w) {
    std::array<char, 1> byte{};
    return call(SYS_recvfrom, w.live, byte.data(), 1, MSG_ERRQUEUE, nullptr, nullptr);
  });
  struct Option {
    const char* name;
    long level, option;
  };
  const std::vector<Option> options{
      {"setsockopt: fast open on connect", IPPROTO_TCP, 30},
      {"setsockopt: fast open", IPPROTO_TCP, 23},
      {"setsockopt: upper layer protocol", IPPROTO_TCP, 31},
      {"setsockopt: repair mode", IPPROTO_TCP, 19},
      {"setsockopt: MD5 key", IPPROTO_TCP, 14},
      {"setsockopt: congestion control", IPPROTO_TCP, 13},
      {"setsockopt: socket filter", SOL_SOCKET, SO_ATTACH_FILTER},
      {"setsockopt: bind to a device", SOL_SOCKET, SO_BINDTODEVICE},
      {"setsockopt: reuse the port", SOL_SOCKET, SO_REUSEPORT},
      {"setsockopt: mark", SOL_SOCKET, SO_MARK},
      {"setsockopt: credentials", SOL_SOCKET, SO_PASSCRED},
      {"setsockopt: source routes", IPPROTO_IP, 4},
      {"setsockopt: netfilter", IPPROTO_IP, 64},
      {"setsockopt: no delay with bit 32 in the option", IPPROTO_TCP, TCP_NODELAY | kBit32},
      {"setsockopt: no delay with bit 32 in the level", IPPROTO_TCP | kBit32, TCP_NODELAY},
  };
  for (const Option& o : options)
    cases.push_back({o.name, [o](const World& w) {
                       const int one = 1;
                       return call(SYS_setsockopt, w.live, o.level, o.option, &one, sizeof one);
                     }});
  for (const Option& o : std::vector<Option>{{"getsockopt: who is there", SOL_SOCKET, SO_PEERCRED},
                                             {"getsockopt: original destination", IPPROTO_IP, 80},
                                             {"getsockopt: TCP state", IPPROTO_TCP, TCP_INFO}})
    cases.push_back({o.name, [o](const World& w) {
                       std::array<char, 256> value{};
                       socklen_t bytes = value.size();
                       return call(SYS_getsockopt, w.live, o.level, o.option, value.data(), &bytes);
                     }});
}

}  // namespace

void add_socket_cases(Cases& cases) {
  add_families(cases);
  add_dialling(cases);
  add_on_the_connection(cases);
}

}  // namespace intray::test
