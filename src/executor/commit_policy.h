// Purpose:    when a batch is committed: group commit without a fixed delay.
// Thread use: pure.
//
// Idle, a batch is one job and latency is what counts: commit at once. Under load one flush should pay for many jobs:
// wait until half of the jobs in play have something to say, but never longer than kCommitLinger after the last commit.
// Half, so that the receiver works on one half while the ledger flushes the other. Files just taken ride along: they
// hurry nobody while claimed jobs are ready to follow.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/clock.h"

namespace intray::executor {

inline constexpr base::Micros kCommitLinger{20'000};

struct CommitQuestion {
  std::size_t finished = 0;     // jobs whose end waits for a commit
  std::size_t startable = 0;    // jobs that a commit would send on their way: gates held and a slot free
  std::size_t others = 0;       // admissions, notes, marks
  bool starving = false;        // nothing claimed is left to follow: admissions count as much as starts
  std::size_t outstanding = 0;  // requests under way: each will bring a further change
  base::Micros since_last{0};   // since the last commit
};

inline bool commit_now(const CommitQuestion& q) {
  const std::size_t ready = std::max(q.finished, q.startable) + (q.starving ? q.others : 0);
  if (q.finished + q.startable + q.others == 0) return false;
  return q.outstanding == 0 || (ready > 0 && ready >= q.outstanding) || q.since_last >= kCommitLinger;
}

}  // namespace intray::executor
