// Purpose:    dials under way, in the order in which they were asked for, in static memory.
// Process:    intray-connector.
// Trust:      whoever answers at the address gets a connection from us, and not a byte.
// Thread use: one thread.
#pragma once

#include <poll.h>

#include <array>
#include <cstdint>

#include "intray-connector/options.h"

namespace intray::connector {

std::int64_t now_ms();  // CLOCK_MONOTONIC

// At most `per_minute` in any minute, evenly refilled; a full minute's worth may go at once.
class RateCap {
 public:
  RateCap(int per_minute, std::int64_t now);
  bool take(std::int64_t now);

 private:
  std::int64_t per_minute_;
  std::int64_t credit_;  // in dials times milliseconds of a minute
  std::int64_t last_ms_;
};

class Dials {
 public:
  Dials(const Address& address, const Options& options) : address_(&address), options_(&options) {}

  bool full() const { return count_ == options_->dials_in_flight; }
  bool empty() const { return count_ == 0; }
  // Requires !full(). refused: answer 'E' without dialling.
  void begin(std::int64_t now, bool refused);

  // Appends what to wait for; returns how many. `out` has room for kDialsInFlightMax.
  int fill_poll(pollfd* out) const;
  // Looks at every unfinished dial.
  void advance(std::int64_t now);
  // Milliseconds to the nearest time-out; -1: none.
  int wait_ms(std::int64_t now) const;

  // The oldest one is finished: its answer is due. Requires !empty() for the rest.
  bool head_finished() const { return count_ > 0 && slots_[head_].state != State::kDialling; }
  int head_fd() const { return slots_[head_].fd; }  // -1: failed
  void pop();                                       // closes our copy

 private:
  enum class State : std::uint8_t { kDialling, kConnected, kFailed };
  struct Slot {
    int fd = -1;
    State state = State::kFailed;
    std::int64_t deadline_ms = 0;
  };
  std::size_t index(int nth) const { return (head_ + static_cast<std::size_t>(nth)) % slots_.size(); }
  static void fail(Slot& slot);

  const Address* address_;
  const Options* options_;
  std::array<Slot, kDialsInFlightMax> slots_{};
  std::size_t head_ = 0;
  int count_ = 0;
};

}  // namespace intray::connector
