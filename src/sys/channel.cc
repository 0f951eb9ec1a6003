#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "limits.h"
#include "sys/call.h"
#include "sys/process.h"

namespace intray::sys {
namespace {

// A union, because the buffer must be aligned like a cmsghdr.
union ControlBuffer {
  std::array<char, CMSG_SPACE(sizeof(int) * limits::kDescriptorsPerPacketMax)> bytes;
  cmsghdr align;
};

base::Result<void> answer_of(ssize_t n) {
  if (n == 1) return {};
  if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
    return base::fail(base::ErrorCode::kBusy, "channel is full", errno);
  if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
    return base::fail(base::ErrorCode::kUnavailable, "the other end of the channel is closed", errno);
  return fail_call(errno, "channel send");
}

std::vector<Fd> descriptors_of(msghdr& message) {
  std::vector<Fd> fds;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

}  // namespace

// Only our end doesn't block: the other one belongs to a program that may have nothing else to wait for.
base::Result<ChannelPair> make_channel() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return fail_call(errno, "socketpair");
  ChannelPair pair{.ours = Fd(ends[0]), .theirs = Fd(ends[1])};
  if (::fcntl(pair.ours.get(), F_SETFL, O_NONBLOCK) != 0) return fail_call(errno, "fcntl");
  return pair;
}

base::Result<Fd> connect_channel(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return base::fail(base::ErrorCode::kInvalid, path + ": too long for the name of a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fail_call(errno, "socket");
  // By number: an executor's own connect() (receiver/connect_shim.cc) refuses everything but received descriptors.
  if (::syscall(SYS_connect, fd.get(), &address, static_cast<socklen_t>(sizeof address)) != 0)
    return fail_call(errno, path);
  if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) return fail_call(errno, "fcntl");
  return fd;
}

base::Result<void> send_byte(int channel, char byte) {
  ssize_t n = 0;
  do n = ::send(channel, &byte, 1, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return answer_of(n);
}

base::Result<void> send_packet(int channel, char byte, int fd) {
  ControlBuffer control{};
  iovec part{.iov_base = &byte, .iov_len = 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(sizeof fd);
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    if (c == nullptr) return base::fail(base::ErrorCode::kInvalid, "no room for a descriptor");
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  ssize_t n = 0;
  do n = ::sendmsg(channel, &message, MSG_NOSIGNAL);
  while (n < 0 && errno == EINTR);
  return answer_of(n);
}

base::Result<Packet> receive_packet(int channel) {
  std::array<char, 2> bytes{};  // room for one too many
  ControlBuffer control{};
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t n = 0;
  do n = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  while (n < 0 && errno == EINTR);
  if (n < 0 && errno == EAGAIN) return base::fail(base::ErrorCode::kBusy, "nothing on the channel", EAGAIN);
  if (n < 0 && errno == ECONNRESET)
    return base::fail(base::ErrorCode::kUnavailable, "the other end of the channel is closed", errno);
  if (n < 0) return fail_call(errno, "channel receive");
  std::vector<Fd> fds = descriptors_of(message);
  if (n == 0 && fds.empty()) return base::fail(base::ErrorCode::kUnavailable, "the other end of the channel is closed");
  if (n != 1 || fds.size() > 1 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return base::fail(base::ErrorCode::kCorrupt, "a packet of other than one byte and at most one descriptor");
  Packet packet;
  packet.byte = bytes[0];
  if (!fds.empty()) packet.fd = std::move(fds.front());
  return packet;
}

}  // namespace intray::sys
