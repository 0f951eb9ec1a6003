// Purpose:    the execution grant: the value without which no mutation can be sent.
// Trust:      minted right before an effect by lease::Coordinator alone, valid in this process, for one request, until
// its
//             expiry or the end of its lease's epoch. The receiver client takes it by value and consumes it where the
//             bytes leave: in the pre-request callback, after connect and TLS.
// Thread use: one thread.
#pragma once

#include <functional>
#include <utility>

#include "base/ids.h"

namespace intray::lease {
class Coordinator;
}

namespace intray::model {

class Grant {
 public:
  Grant(Grant&& other) noexcept
      : attempt_(other.attempt_),
        still_valid_(std::move(other.still_valid_)),
        live_(std::exchange(other.live_, false)) {}
  Grant& operator=(Grant&& other) noexcept {
    attempt_ = other.attempt_;
    still_valid_ = std::move(other.still_valid_);
    live_ = std::exchange(other.live_, false);
    return *this;
  }
  Grant(const Grant&) = delete;
  Grant& operator=(const Grant&) = delete;
  ~Grant() = default;

  const base::AttemptId& attempt() const { return attempt_; }

  // True once, and only if the lease row still says what it said and neither grant nor lease has expired. Rereads the
  // row.
  [[nodiscard]] bool consume() { return std::exchange(live_, false) && still_valid_(); }

 private:
  friend class lease::Coordinator;
  Grant(base::AttemptId attempt, std::function<bool()> still_valid)
      : attempt_(attempt), still_valid_(std::move(still_valid)) {}

  base::AttemptId attempt_;
  std::function<bool()> still_valid_;
  bool live_ = true;
};

}  // namespace intray::model
