// Purpose:    an owned file descriptor.
// Thread use: values, no shared state.
#pragma once

#include <unistd.h>

#include <utility>

namespace intray::vault_receiver {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) close(), fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~Fd() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  // Errors of close() are ignored: what must be durable is synced before.
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Gives the descriptor up to the caller.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace intray::vault_receiver
