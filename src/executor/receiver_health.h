// Purpose:    whether jobs may run against the receiver now: the circuit breaker, the suspension, and whether a
// connection can
//             be had at all.
// Thread use: pure state machine; the caller gives the time (boot clock).
//
// The breaker opens when a dial fails, or after `failures_max` exchanges in a row that say the receiver is not well.
// While it is open nothing is claimed and no attempt is burned; a read probes every `probe`; an answer closes it. A
// suspension (the credential was refused, TLS failed) ends only with a restart or `intray resume`.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "model/reason.h"

namespace intray::executor {

class ReceiverHealth {
 public:
  ReceiverHealth(int failures_max, base::Micros probe) : failures_max_(failures_max), probe_(probe) {}

  void answered(base::BootTime now) {
    failures_ = 0;
    open_ = false;
    last_answer_ = now;
  }
  // True where this opens the breaker.
  bool failed(base::BootTime now) {
    if (open_ || ++failures_ < failures_max_) return false;
    return open(now);
  }
  // True where this opens the breaker.
  bool dial_failed(base::BootTime now) { return !open_ && open(now); }
  void suspend(model::Reason why) {
    if (!suspended_) suspended_ = why;
  }

  std::optional<base::BootTime> last_answer() const { return last_answer_; }
  bool breaker_open() const { return open_; }
  std::optional<model::Reason> suspended() const { return suspended_; }
  bool may_run() const { return !open_ && !suspended_; }
  // When the next probing read is due; nullopt while closed or suspended.
  std::optional<base::BootTime> probe_at() const {
    return open_ && !suspended_ ? std::optional(next_probe_) : std::nullopt;
  }
  void probed(base::BootTime now) { next_probe_ = now + probe_; }

 private:
  bool open(base::BootTime now) {
    open_ = true;
    next_probe_ = now + probe_;
    return true;
  }
  int failures_max_;
  base::Micros probe_;
  int failures_ = 0;
  bool open_ = false;
  base::BootTime next_probe_{};
  std::optional<base::BootTime> last_answer_;
  std::optional<model::Reason> suspended_;
};

}  // namespace intray::executor
