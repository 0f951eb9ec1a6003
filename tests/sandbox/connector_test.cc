// The connector's lock-down from within: it can dial its one port by one kind of socket, answer on its channel, and
// nothing else.
#include "connector.h"

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <iostream>

#include "intray-connector/lock_down.h"
#include "sys/landlock.h"
#include "sys/probe.h"

namespace intray::test {
namespace {

constexpr int kNotLocked = 241;
constexpr int kTcpAbi = 4;
constexpr long kTcp = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

sockaddr_in local(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<in_port_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A listener on a free port, for as long as the test program runs.
int listening_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = local(0);
  socklen_t bytes = sizeof address;
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), bytes) == 0);
  REQUIRE(::listen(fd, 4096) == 0);
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  return ntohs(address.sin_port);
}

long dial(int port) {
  const long fd = call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP);
  const sockaddr_in to = local(port);
  const long answer = fd < 0 ? -1 : call(SYS_connect, fd, &to, sizeof to);
  return answer == -1 && errno == EINPROGRESS ? 0 : answer;
}

bool skipped() {
  if (const auto why = no_kill_tests()) {
    std::cout << "SKIPPED: " << *why << "\n";
    return true;
  }
  return false;
}

struct ConnectorCase {
  const char* name;
  std::function<long(const ConnectorWorld&)> act;
};

const std::vector<ConnectorCase>& killed_cases() {
  static const std::vector<ConnectorCase> cases{
      {"socket: UDP",
       [](const auto&) { return call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }},
      {"socket: multipath TCP", [](const auto&) { return call(SYS_socket, AF_INET, kTcp, 262); }},
      {"socket: default protocol", [](const auto&) { return call(SYS_socket, AF_INET, kTcp, 0); }},
      {"socket: the other family", [](const auto&) { return call(SYS_socket, AF_INET6, kTcp, IPPROTO_TCP); }},
      {"socket: local", [](const auto&) { return call(SYS_socket, AF_UNIX, kTcp, 0); }},
      {"socket: raw", [](const auto&) { return call(SYS_socket, AF_INET, SOCK_RAW, IPPROTO_TCP); }},
      {"socket: with bit 32", [](const auto&) { return call(SYS_socket, AF_INET | kBit32, kTcp, IPPROTO_TCP); }},
      {"connect: another length of address",
       [](const auto& w) {
         const sockaddr_in to = local(w.port);
         return call(SYS_connect, call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP), &to, 28);
       }},
      {"connect: length with bit 32",
       [](const auto& w) {
         const sockaddr_in to = local(w.port);
         return call(SYS_connect, call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP), &to,
                     sizeof to | static_cast<unsigned long>(kBit32));
       }},
      {"bind", [](const auto&) { return call(SYS_bind, 3, nullptr, 0); }},
      {"listen", [](const auto&) { return call(SYS_listen, 3, 1); }},
      {"accept4", [](const auto&) { return call(SYS_accept4, 3, nullptr, nullptr, 0); }},
      {"socketpair", [](const auto&) { return call(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, nullptr); }},
      {"send a byte to the receiver",
       [](const auto&) {
         return call(SYS_sendto, call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP), "x", 1, MSG_NOSIGNAL, nullptr, 0);
       }},
      {"write to a connection",
       [](const auto&) { return call(SYS_write, call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP), "x", 1); }},
      {"sendmsg on a connection",
       [](const auto&) {
         const msghdr message{};
         return call(SYS_sendmsg, call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP), &message, MSG_NOSIGNAL);
       }},
      {"sendmsg with fast open",
       [](const auto& w) {
         const msghdr message{};
         return call(SYS_sendmsg, w.channel, &message, MSG_NOSIGNAL | MSG_FASTOPEN);
       }},
      {"read from a connection",
       [](const auto&) {
         char byte = 0;
         return call(SYS_read, call(SYS_socket, AF_INET, kTcp, IPPROTO_TCP), &byte, 1);
       }},
      {"read stdin", [](const auto&) { return call(SYS_read, 0, nullptr, 0); }},
      {"recvmsg on the channel",
       [](const auto& w) {
         msghdr message{};
         return call(SYS_recvmsg, w.channel, &message, MSG_CMSG_CLOEXEC);
       }},
      {"recvfrom on the channel",
       [](const auto& w) { return call(SYS_recvfrom, w.channel, nullptr, 0, 0, nullptr, nullptr); }},
      {"setsockopt",
       [](const auto& w) { return call(SYS_setsockopt, w.channel, SOL_SOCKET, SO_PASSCRED, nullptr, 0); }},
      {"close the channel", [](const auto& w) { return call(SYS_close, w.channel); }},
      {"close the channel with bit 32", [](const auto& w) { return call(SYS_close, w.channel | kBit32); }},
      {"openat", [](const auto&) { return call(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY); }},
      {"open", [](const auto&) { return call(SYS_open, "/etc/passwd", O_RDONLY); }},
      {"openat2", [](const auto&) { return call(SYS_openat2, AT_FDCWD, "/etc/passwd", nullptr, 0); }},
      {"newfstatat", [](const auto&) { return call(SYS_newfstatat, AT_FDCWD, "/", nullptr, 0); }},
      {"access", [](const auto&) { return call(SYS_access, "/etc/passwd", 0); }},
      {"getdents64", [](const auto&) { return call(SYS_getdents64, 3, nullptr, 0); }},
      {"mmap",
       [](const auto&) { return call(SYS_mmap, nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
      {"mprotect", [](const auto&) { return call(SYS_mprotect, nullptr, 4096, PROT_READ); }},
      {"brk", [](const auto&) { return call(SYS_brk, 0); }},
      {"execve", [](const auto&) { return call(SYS_execve, "/bin/true", nullptr, nullptr); }},
      {"fork", [](const auto&) { return call(SYS_fork); }},
      {"clone3", [](const auto&) { return call(SYS_clone3, nullptr, 0); }},
      {"kill", [](const auto&) { return call(SYS_kill, 0, 0); }},
      {"ptrace", [](const auto&) { return call(SYS_ptrace, 0, 0, 0, 0); }},
      {"prctl", [](const auto&) { return call(SYS_prctl, 4, 1, 0, 0, 0); }},
      {"dup", [](const auto&) { return call(SYS_dup, 3); }},
      {"fcntl", [](const auto&) { return call(SYS_fcntl, 3, F_DUPFD, 0); }},
      {"ioctl", [](const auto&) { return call(SYS_ioctl, 3, 0x541B, nullptr); }},
      {"io_uring_setup", [](const auto&) { return call(425, 1, nullptr); }},
      {"bpf", [](const auto&) { return call(SYS_bpf, 0, nullptr, 0); }},
      {"rt_sigaction", [](const auto&) { return call(SYS_rt_sigaction, SIGSYS, nullptr, nullptr, 8); }},
      {"x32: getpid", [](const auto&) { return call(0x40000000L | SYS_getpid); }},
  };
  return cases;
}

TEST_CASE("connector: dialling its one port works, and answers can be sent") {
  CHECK(connector_attempt([](const ConnectorWorld& w) { return dial(w.port); }).worked());
  CHECK(connector_attempt([](const ConnectorWorld& w) {
          char byte = 'E';
          iovec part{.iov_base = &byte, .iov_len = 1};
          msghdr message{};
          message.msg_iov = &part;
          message.msg_iovlen = 1;
          return call(SYS_sendmsg, w.channel, &message, MSG_NOSIGNAL);
        }).worked());
  CHECK(connector_attempt([](const ConnectorWorld& w) -> long {
          char byte = 0;
          return call(SYS_read, w.channel, &byte, 1) == 1 && byte == 'C' ? 0 : -1;
        }).worked());
}

TEST_CASE("connector: another port is refused by Landlock") {
  if (sys::landlock_abi() < kTcpAbi) {
    std::cout << "SKIPPED: this kernel's Landlock has no rule for TCP\n";
    return;
  }
  const Outcome outcome = connector_attempt([](const ConnectorWorld& w) { return dial(w.other_port); });
  CAPTURE(outcome.text());
  CHECK((outcome.kind == Outcome::Kind::kError && outcome.number == EACCES));
}

TEST_CASE("connector: everything else is death") {
  if (skipped()) return;
  std::string wrong;
  for (const ConnectorCase& c : killed_cases()) {
    const Outcome outcome = connector_attempt(c.act);
    if (!fits(outcome, Expected::kKilled)) wrong += std::string(c.name) + ": " + outcome.text() + "\n";
  }
  CHECK(wrong == "");
  CHECK(killed_cases().size() >= 45);
}

}  // namespace

Outcome connector_attempt(const std::function<long(const ConnectorWorld&)>& act) {
  static const int port = listening_port();
  static const int other_port = listening_port();
  const auto end = sys::in_child("intray-attempt", 10, [&] {
    ConnectorWorld world{.port = port, .other_port = other_port};
    const uid_t uid = attempt_uid();
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0))
      return kNotLocked;
    std::array<int, 2> pair{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair.data()) != 0) return kNotLocked;
    if (::send(pair[1], "C", 1, 0) != 1) return kNotLocked;
    world.channel = pair[0];
    // The lock-down closes all but the channel, and with it the other end: an answer would find nobody.
    if (::fcntl(pair[1], F_DUPFD, 0) < 0 || ::dup2(pair[1], STDIN_FILENO) < 0) return kNotLocked;
    connector::Address address;
    const sockaddr_in to = local(port);
    std::memcpy(&address.storage, &to, sizeof to);
    address.bytes = sizeof to;
    connector::Options options;
    options.channel = world.channel;
    options.allow_reduced = true;
    ::alarm(1);
    if (!connector::lock_down(options, address)) return kNotLocked;
    errno = 0;
    return act(world) == -1 ? errno : 0;
  });
  if (!end || end->code == kNotLocked) return {Outcome::Kind::kNoLockDown, end ? end->code : -1};
  if (end->signal == SIGALRM) return {Outcome::Kind::kWorked, 0};
  if (end->signal != 0) return {Outcome::Kind::kSignal, end->signal};
  return end->code == 0 ? Outcome{Outcome::Kind::kWorked, 0} : Outcome{Outcome::Kind::kError, end->code};
}

}  // namespace intray::test
