// Tests of the executor's pure parts: commit policy, back-off, receiver health.
#include <catch2/catch.hpp>

#include "executor/backoff.h"
#include "executor/commit_policy.h"
#include "executor/receiver_health.h"

using namespace intray;
using namespace intray::executor;
using namespace std::chrono_literals;

TEST_CASE("commit policy: nothing to write is never committed") {
  CHECK_FALSE(commit_now({.since_last = 1h}));
  CHECK_FALSE(commit_now({.outstanding = 10, .since_last = 1h}));
}

TEST_CASE("commit policy: an idle executor commits a single change at once") {
  CHECK(commit_now({.finished = 1}));
  CHECK(commit_now({.startable = 1}));
  CHECK(commit_now({.others = 1}));
}

TEST_CASE("commit policy: under load a commit waits for half of the jobs in play") {
  CHECK_FALSE(commit_now({.finished = 31, .outstanding = 33}));
  CHECK(commit_now({.finished = 32, .outstanding = 32}));
  CHECK_FALSE(commit_now({.finished = 20, .startable = 20, .outstanding = 44}));  // the same slots, not twice as many
  CHECK(commit_now({.startable = 32, .outstanding = 32}));
}

TEST_CASE("commit policy: files just taken hurry nobody, unless nothing else is left to follow") {
  CHECK_FALSE(commit_now({.others = 64, .outstanding = 32}));
  CHECK(commit_now({.others = 64, .starving = true, .outstanding = 32}));
}

TEST_CASE("commit policy: it never waits longer than the linger after the last commit") {
  CHECK_FALSE(commit_now({.finished = 1, .outstanding = 63, .since_last = kCommitLinger - 1us}));
  CHECK(commit_now({.finished = 1, .outstanding = 63, .since_last = kCommitLinger}));
}

TEST_CASE("back-off: doubles, jitters upward only, and respects Retry-After") {
  CHECK(retry_wait(1s, 1, 0.0, 0s) == 1s);
  CHECK(retry_wait(1s, 2, 0.0, 0s) == 2s);
  CHECK(retry_wait(1s, 5, 0.0, 0s) == 16s);
  CHECK(retry_wait(1s, 0, 0.0, 0s) == 1s);
  CHECK(retry_wait(1s, 3, 0.5, 0s) == 6s);
  CHECK(retry_wait(1s, 1, 0.999, 0s) < 2s);
  CHECK(retry_wait(1s, 1, 0.0, 90s) == 90s);
  CHECK(retry_wait(1s, 1000, 0.0, 0s) > 0s);  // no overflow
}

TEST_CASE("receiver health: opens after the given number of failures in a row, an answer closes it") {
  ReceiverHealth health(3, 5s);
  const base::BootTime t{100s};
  CHECK_FALSE(health.failed(t));
  CHECK_FALSE(health.failed(t));
  health.answered(t);
  CHECK_FALSE(health.failed(t));
  CHECK_FALSE(health.failed(t));
  CHECK(health.may_run());
  CHECK(health.failed(t));
  CHECK(health.breaker_open());
  CHECK_FALSE(health.may_run());
  CHECK(health.probe_at() == t + 5s);
  CHECK_FALSE(health.failed(t));  // says so once
  health.probed(t + 5s);
  CHECK(health.probe_at() == t + 10s);
  health.answered(t + 6s);
  CHECK(health.may_run());
  CHECK_FALSE(health.probe_at());
}

TEST_CASE("receiver health: a failed dial opens at once") {
  ReceiverHealth health(5, 5s);
  CHECK(health.dial_failed(base::BootTime{1s}));
  CHECK_FALSE(health.dial_failed(base::BootTime{2s}));
  CHECK_FALSE(health.may_run());
}

TEST_CASE("receiver health: a suspension outlives answers and keeps its first reason") {
  ReceiverHealth health(5, 5s);
  health.suspend(model::Reason::kReceiverUnauthorized);
  health.suspend(model::Reason::kReceiverTls);
  health.answered(base::BootTime{1s});
  CHECK_FALSE(health.may_run());
  CHECK(health.suspended() == model::Reason::kReceiverUnauthorized);
  CHECK_FALSE(health.probe_at());
}
