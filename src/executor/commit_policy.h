// Purpose:    when a batch is committed: group commit without a fixed delay.
// Thread use: pure.
//
// Idle, a batch is one job and latency is what counts: commit at once. Under load one flush should pay for many jobs: wait
// until about half of the requests in flight have something to say, but never longer than kCommitLinger after the last
// commit. Half, so that the receiver works on one half while the ledger flushes the other.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/clock.h"

namespace intray::executor {

inline constexpr base::Micros kCommitLinger{5'000};

struct CommitQuestion {
  std::size_t changes = 0;       // finishes, starts and admissions that wait for a commit
  std::size_t outstanding = 0;   // requests under way: each will bring a further change
  std::size_t in_flight_max = 1;
  base::Micros since_last{0};    // since the last commit
};

inline bool commit_now(const CommitQuestion& q) {
  if (q.changes == 0) return false;
  if (q.outstanding == 0) return true;
  return q.changes >= std::max<std::size_t>(1, q.in_flight_max / 2) || q.since_last >= kCommitLinger;
}

}  // namespace intray::executor
