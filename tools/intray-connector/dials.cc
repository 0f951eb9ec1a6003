#include "intray-connector/dials.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace intray::connector {
namespace {

constexpr std::int64_t kMinute_ms = 60'000;
constexpr std::int64_t kMillisPerSecond = 1000;
constexpr std::int64_t kNanosPerMilli = 1'000'000;

int connection_error(int fd) {
  int error = 0;
  socklen_t bytes = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

// The socket API takes every kind of address through one pointer type.
const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);  // NOLINT(*-reinterpret-cast)
}

}  // namespace

std::int64_t now_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kMillisPerSecond + time.tv_nsec / kNanosPerMilli;
}

RateCap::RateCap(int per_minute, std::int64_t now)
    : per_minute_(per_minute), credit_(per_minute * kMinute_ms), last_ms_(now) {}

bool RateCap::take(std::int64_t now) {
  const std::int64_t full = per_minute_ * kMinute_ms;
  const std::int64_t passed = now - last_ms_ < kMinute_ms ? now - last_ms_ : kMinute_ms;
  last_ms_ = now;
  credit_ += passed * per_minute_;
  if (credit_ > full) credit_ = full;
  if (credit_ < kMinute_ms) return false;
  credit_ -= kMinute_ms;
  return true;
}

void Dials::begin(std::int64_t now, bool refused) {
  Slot& slot = slots_[index(count_)];
  ++count_;
  slot = {.fd = -1, .state = State::kFailed, .deadline_ms = now + options_->connect_timeout_ms};
  if (refused) return;
  slot.fd = ::socket(address_->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (slot.fd < 0) return;
  if (::connect(slot.fd, generic(*address_), address_->bytes) == 0) {
    slot.state = State::kConnected;
  } else if (errno == EINPROGRESS || errno == EINTR) {
    slot.state = State::kDialling;
  } else {
    fail(slot);
  }
}

void Dials::fail(Slot& slot) {
  if (slot.fd >= 0) ::close(slot.fd);
  slot.fd = -1;
  slot.state = State::kFailed;
}

int Dials::fill_poll(pollfd* out) const {
  int n = 0;
  for (int i = 0; i < count_; ++i) {
    const Slot& slot = slots_[index(i)];
    if (slot.state == State::kDialling) out[n++] = {.fd = slot.fd, .events = POLLOUT, .revents = 0};
  }
  return n;
}

void Dials::advance(std::int64_t now) {
  for (int i = 0; i < count_; ++i) {
    Slot& slot = slots_[index(i)];
    if (slot.state != State::kDialling) continue;
    pollfd ready{.fd = slot.fd, .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, 0) > 0) {
      slot.state = State::kConnected;
      if (connection_error(slot.fd) != 0) fail(slot);
    } else if (now >= slot.deadline_ms) {
      fail(slot);
    }
  }
}

int Dials::wait_ms(std::int64_t now) const {
  // Deadlines rise with the order, so the first unfinished dial has the nearest.
  for (int i = 0; i < count_; ++i) {
    const Slot& slot = slots_[index(i)];
    if (slot.state == State::kDialling) return slot.deadline_ms > now ? static_cast<int>(slot.deadline_ms - now) : 0;
  }
  return -1;
}

void Dials::pop() {
  fail(slots_[head_]);
  head_ = index(1);
  --count_;
}

}  // namespace intray::connector
