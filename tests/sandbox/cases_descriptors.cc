// Descriptors: passing one on, taking one in, giving a pinned number to something else.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <limits>

#include "attempt.h"

namespace intray::test {
namespace {

// One byte and one descriptor, by sendmsg.
long pass_on(int socket, int fd, int flags) {
  char byte = 'x';
  iovec part{.iov_base = &byte, .iov_len = 1};
  union {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
    cmsghdr align;
  } control{};
  control.align = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  return call(SYS_sendmsg, socket, &message, flags);
}

long take_in(long socket, long flags) {
  msghdr message{};
  return call(SYS_recvmsg, socket, &message, flags);
}

}  // namespace

void add_descriptor_cases(Cases& cases) {
  using enum Expected;
  const auto killed = [&](const char* name, std::function<long(const World&)> act,
                          std::optional<Expected> paths_only = std::nullopt) {
    cases.push_back({name, std::move(act), kKilled, kKilled, paths_only});
  };
  killed("pass the ledger to the connector", [](const World& w) { return pass_on(w.channel, w.ledger, MSG_NOSIGNAL); });
  killed("pass a job over the connection", [](const World& w) { return pass_on(w.live, w.job, MSG_NOSIGNAL); });
  killed("sendmmsg", [](const World& w) { return call(SYS_sendmmsg, w.channel, nullptr, 0, MSG_NOSIGNAL); });
  killed("recvmmsg", [](const World& w) { return call(SYS_recvmmsg, w.channel, nullptr, 0, MSG_DONTWAIT, nullptr); });
  killed("recvmsg on the connection", [](const World& w) { return take_in(w.live, MSG_CMSG_CLOEXEC); });
  killed("recvmsg without close-on-exec", [](const World& w) { return take_in(w.channel, 0); });
  killed("recvmsg that peeks", [](const World& w) { return take_in(w.channel, MSG_CMSG_CLOEXEC | MSG_PEEK); });
  killed("recvmsg with bit 32 in the descriptor",
         [](const World& w) { return take_in(w.channel | kBit32, MSG_CMSG_CLOEXEC); });

  killed(
      "dup", [](const World& w) { return call(SYS_dup, w.ledger); }, kWorks);
  killed(
      "dup2 over a pinned number", [](const World& w) { return call(SYS_dup2, w.elsewhere, w.slot); }, kWorks);
  killed(
      "dup3 over a pinned number", [](const World& w) { return call(SYS_dup3, w.elsewhere, w.slot, 0); }, kWorks);
  killed(
      "F_DUPFD", [](const World& w) { return call(SYS_fcntl, w.ledger, F_DUPFD, 0); }, kWorks);
  killed(
      "F_DUPFD_CLOEXEC", [](const World& w) { return call(SYS_fcntl, w.ledger, F_DUPFD_CLOEXEC, 0); }, kWorks);
  killed("F_DUPFD with bit 32", [](const World& w) { return call(SYS_fcntl, w.ledger, F_DUPFD | kBit32, 0); });
  killed("F_GETFL with bit 32", [](const World& w) { return call(SYS_fcntl, w.ledger, F_GETFL | kBit32, 0); });
  killed("F_SETFD that survives exec", [](const World& w) { return call(SYS_fcntl, w.ledger, F_SETFD, 0); });
  killed("F_SETFL to signals", [](const World& w) { return call(SYS_fcntl, w.live, F_SETFL, O_ASYNC); });
  killed("F_SETFL with bit 32", [](const World& w) { return call(SYS_fcntl, w.live, F_SETFL, O_NONBLOCK | kBit32); });
  killed("F_SETOWN", [](const World& w) { return call(SYS_fcntl, w.live, F_SETOWN, w.parent); });
  killed("F_SETSIG", [](const World& w) { return call(SYS_fcntl, w.live, 10, 9); });
  killed("F_SETLEASE", [](const World& w) { return call(SYS_fcntl, w.job, 1024, 0); });
  killed("F_NOTIFY", [](const World& w) { return call(SYS_fcntl, w.elsewhere, 1026, 2); });
  killed("F_SETPIPE_SZ", [](const World& w) { return call(SYS_fcntl, w.live, 1031, 4096); });
  killed("F_ADD_SEALS", [](const World& w) { return call(SYS_fcntl, w.ledger, 1033, 1); });

  killed(
      "close a pinned directory", [](const World& w) { return call(SYS_close, w.slot); }, kWorks);
  killed(
      "close the channel", [](const World& w) { return call(SYS_close, w.channel); }, kWorks);
  killed(
      "close stderr", [](const World&) { return call(SYS_close, 2); }, kWorks);
  // The kernel takes 32 bits of a descriptor: each of these would close a pinned number.
  killed(
      "close a pinned directory with bit 32", [](const World& w) { return call(SYS_close, w.slot | kBit32); }, kWorks);
  killed(
      "close a pinned directory with bit 63",
      [](const World& w) { return call(SYS_close, w.slot | std::numeric_limits<long>::min()); }, kWorks);
  killed(
      "shut down the channel", [](const World& w) { return call(SYS_shutdown, w.channel, SHUT_RDWR); }, kWorks);
  killed(
      "shut down the channel with bit 32",
      [](const World& w) { return call(SYS_shutdown, w.channel | kBit32, SHUT_RDWR); }, kWorks);
  killed("close_range in the foreign ABI", [](const World&) { return call(0x40000000L | 436, 3, ~0U, 0); });
  cases.push_back(
      {"close_range", [](const World&) { return call(SYS_close_range, 3, ~0U, 0); }, kNoSuchCall, kNoSuchCall, kWorks});

  killed("epoll_ctl on another epoll", [](const World& w) {
    epoll_event event{};
    return call(SYS_epoll_ctl, w.other_epoll, EPOLL_CTL_ADD, w.live, &event);
  });
  killed("timerfd_settime on another timer", [](const World& w) {
    const itimerspec time{};
    return call(SYS_timerfd_settime, w.other_timer, 0, &time, nullptr);
  });
  killed(
      "epoll_create1", [](const World&) { return call(SYS_epoll_create1, 0); }, kWorks);
  killed(
      "timerfd_create", [](const World&) { return call(SYS_timerfd_create, CLOCK_MONOTONIC, 0); }, kWorks);
  killed(
      "eventfd2", [](const World&) { return call(SYS_eventfd2, 0, 0); }, kWorks);
  killed(
      "signalfd4",
      [](const World&) {
        const std::uint64_t none = 0;
        return call(SYS_signalfd4, -1, &none, sizeof none, 0);
      },
      kWorks);
  killed(
      "pipe",
      [](const World&) {
        std::array<int, 2> ends{};
        return call(SYS_pipe, ends.data());
      },
      kWorks);
  killed(
      "pipe2",
      [](const World&) {
        std::array<int, 2> ends{};
        return call(SYS_pipe2, ends.data(), O_CLOEXEC);
      },
      kWorks);
  killed("select", [](const World&) { return call(SYS_select, 0, nullptr, nullptr, nullptr, nullptr); });
  killed("readv", [](const World& w) { return call(SYS_readv, w.job, nullptr, 0); });
  killed("writev", [](const World& w) { return call(SYS_writev, w.live, nullptr, 0); });
  killed("pwritev2", [](const World& w) { return call(SYS_pwritev2, w.ledger, nullptr, 0, 0, 0, 0); });
  killed(
      "lseek", [](const World& w) { return call(SYS_lseek, w.job, 0, SEEK_SET); }, kWorks);
  killed("ioctl: bytes to read", [](const World& w) {
    int n = 0;
    return call(SYS_ioctl, w.live, 0x541B, &n);
  });
  killed("ioctl: type into the terminal", [](const World&) { return call(SYS_ioctl, 0, 0x5412, "x"); });
  killed("ioctl: type into the terminal with bit 32",
         [](const World&) { return call(SYS_ioctl, 0, 0x5412 | kBit32, "x"); });
  killed("ioctl: clone a file", [](const World& w) { return call(SYS_ioctl, w.ledger, 0x40049409, w.job); });
  killed("ioctl: virtual console", [](const World&) { return call(SYS_ioctl, 0, 0x541C, nullptr); });
}

}  // namespace intray::test
