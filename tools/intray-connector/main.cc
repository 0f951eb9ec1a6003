// intray-connector: makes TCP connections to one fixed address and hands them to an executor, which can make none
// itself.
//
// Process: started by an executor (or a service manager) with one end of a SOCK_SEQPACKET channel. It holds no file, no
// secret and no other address, links the C library and libseccomp alone, and allocates nothing once it serves: it has
// no call for that any more (lock_down.h). Trust:   the executor may be taken over: all it can do here is ask for more
// connections to the same address, within caps. Anything but the one byte 'C' ends us.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "intray-connector/dials.h"
#include "intray-connector/lock_down.h"
#include "intray-connector/options.h"

namespace intray::connector {
namespace {

constexpr char kAsk = 'C';
constexpr char kConnected = 'K';
constexpr char kFailed = 'E';
constexpr int kLookAgain_ms = 10;

bool is_channel(int fd) {
  int type = 0;
  int domain = 0;
  socklen_t bytes = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0) return false;
  bytes = sizeof domain;
  return ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && type == SOCK_SEQPACKET && domain == AF_UNIX;
}

enum class Sent {
  kYes,
  kNoRoom,  // the channel says when there is some
  kLater,   // too many descriptors on their way: nothing says when
  kGone,
};

// fd < 0: 'E'.
Sent answer(int channel, int fd) {
  char byte = fd < 0 ? kFailed : kConnected;
  iovec part{.iov_base = &byte, .iov_len = 1};
  union {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
    cmsghdr align;
  } control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    control.align = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
  }
  while (::sendmsg(channel, &message, MSG_NOSIGNAL) != 1) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return Sent::kNoRoom;
    return errno == ENOBUFS || errno == ETOOMANYREFS ? Sent::kLater : Sent::kGone;
  }
  return Sent::kYes;
}

class Server {
 public:
  Server(const Options& options, const Address& address)
      : options_(&options), dials_(address, options), cap_(options.dials_per_minute, now_ms()) {}

  int run() {
    while (true) {
      if (const int code = take_requests(); code >= 0) return code;
      dials_.advance(now_ms());
      if (!send_answers()) return kExitOk;
      if (!wait()) return kExitSystem;
    }
  }

 private:
  // -1: go on. read(), so that no descriptor can be received with a request.
  int take_requests() {
    while (!dials_.full()) {
      std::array<char, 2> request{};  // room for one too many
      const ssize_t n = ::read(options_->channel, request.data(), request.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return -1;
      if (n <= 0) return kExitOk;
      if (n != 1 || request[0] != kAsk) {
        complain("malformed request");
        return kExitMalformed;
      }
      const std::int64_t now = now_ms();
      dials_.begin(now, !cap_.take(now));
    }
    return -1;
  }

  bool send_answers() {
    sent_ = Sent::kYes;
    while (dials_.head_finished()) {
      sent_ = answer(options_->channel, dials_.head_fd());
      if (sent_ != Sent::kYes) break;
      dials_.pop();
    }
    return sent_ != Sent::kGone;
  }

  bool wait() {
    static std::array<pollfd, kDialsInFlightMax + 1> ready;
    ready[0] = {.fd = options_->channel, .events = 0, .revents = 0};
    if (!dials_.full()) ready[0].events |= POLLIN;
    if (sent_ == Sent::kNoRoom) ready[0].events |= POLLOUT;
    const int n = dials_.fill_poll(&ready[1]);
    int wait_ms = dials_.wait_ms(now_ms());
    if (sent_ == Sent::kLater && (wait_ms < 0 || wait_ms > kLookAgain_ms)) wait_ms = kLookAgain_ms;
    if (::poll(ready.data(), static_cast<nfds_t>(n) + 1, wait_ms) < 0 && errno != EINTR) return false;
    // Full, or blocked, we don't read; a closed channel must end us all the same.
    if ((ready[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 && (ready[0].revents & POLLIN) == 0) ::_exit(kExitOk);
    return true;
  }

  const Options* options_;
  Dials dials_;
  RateCap cap_;
  Sent sent_ = Sent::kYes;  // the last answer that was tried
};

int run(int count, char** arguments) {
  Options options;
  if (!parse_options(count, arguments, options)) return kExitUsage;
  if (!is_channel(options.channel)) {
    complain("the channel is not a SOCK_SEQPACKET socket");
    return kExitUsage;
  }
  static Address address;
  if (!pin_address(options.address, address)) return kExitUnresolved;
  std::signal(SIGPIPE, SIG_IGN);
  if (::fcntl(options.channel, F_SETFL, O_RDWR | O_NONBLOCK) != 0) return kExitSystem;
  if (!is_expected_peer(options)) return kExitStranger;
  static Server server(options, address);
  if (!lock_down(options, address)) return kExitNotConfined;
  return server.run();
}

}  // namespace
}  // namespace intray::connector

// No handler of a library runs at the end: nothing here needs one, and it would find its calls forbidden.
int main(int count, char** arguments) { ::_exit(intray::connector::run(count, arguments)); }
