#include "vault-receiver/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "vault-receiver/bounds.h"

namespace intray::vault_receiver {

Connection::Io Connection::receive() {
  static std::array<char, kReadChunkBytes> buffer;  // one thread, and its bytes are copied before the next use
  const ssize_t n = ::recv(fd(), buffer.data(), buffer.size(), 0);
  if (n > 0) {
    unread.append(buffer.data(), static_cast<std::size_t>(n));
    return Io::kDone;
  }
  if (n == 0) return ended = true, Io::kEnded;
  return errno == EAGAIN || errno == EINTR ? Io::kBlocked : Io::kFailed;
}

Connection::Io Connection::flush() {
  while (sent_ < outgoing.size()) {
    const ssize_t n = ::send(fd(), outgoing.data() + sent_, outgoing.size() - sent_, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? Io::kBlocked : Io::kFailed;
    sent_ += static_cast<std::size_t>(n);
  }
  outgoing.clear();
  sent_ = 0;
  return Io::kDone;
}

// NOLINTNEXTLINE(readability-make-member-function-const): changes the connection
void Connection::reset_on_close() {
  const linger now{1, 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

// NOLINTNEXTLINE(readability-make-member-function-const): changes the connection
void Connection::shut_down_sending() { ::shutdown(fd(), SHUT_WR); }

std::uint32_t Connection::interest() const {
  std::uint32_t mask = phase == Phase::kSending ? EPOLLOUT : 0U;
  const bool wants = phase == Phase::kReading || phase == Phase::kDraining || unread.size() < kPipelinedBytesMax;
  if (!ended && wants) mask |= EPOLLIN;
  return mask;
}

}  // namespace intray::vault_receiver
