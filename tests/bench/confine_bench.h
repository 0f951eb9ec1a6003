// Purpose:    what lock-down costs: the steps of a job that touch the kernel, confined and not.
// Process:    intray-bench.
// Trust:      test code.
// Thread use: one thread; it forks a child for each round of each kind, as a lock-down is for good.
#pragma once

#include <string>

namespace intray::bench {

struct ConfineCost {
  double free_us = 0;      // per job, the smallest of all rounds
  double confined_us = 0;  // the same in the real lock-down of intray-save
};

// `jobs` files go from new/ through the lease to done/ below `dir` (made here), each read and hashed, each with the
// calls of three transactions on an open file. Nothing is synced: the worst case, as a sync costs more than all of it
// together. Rounds of the two kinds take turns. Requires an ordinary user. Any failure ends the program.
ConfineCost confine_cost(const std::string& dir, int rounds, int jobs);

}  // namespace intray::bench
