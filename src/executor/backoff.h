// Purpose:    how long a retry waits.
// Thread use: pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace intray::executor {

// The wait before attempt number `attempts_so_far` + 1: first_wait, doubled for each attempt so far, with full jitter
// upward only (up to twice as long), never shorter than what the receiver asked for. `jitter` is uniform in [0, 1).
inline base::Micros retry_wait(base::Micros first_wait, int attempts_so_far, double jitter, base::Micros retry_after) {
  const int doublings = std::clamp(attempts_so_far - 1, 0, 16);
  const base::Micros base = first_wait * (std::int64_t{1} << doublings);
  const base::Micros spread{static_cast<std::int64_t>(static_cast<double>(base.count()) * jitter)};
  return std::max(base + spread, retry_after);
}

}  // namespace intray::executor
