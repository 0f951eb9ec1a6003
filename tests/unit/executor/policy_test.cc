// Tests of the executor's pure parts: commit policy, back-off, receiver health.
#include <catch2/catch.hpp>

#include "executor/backoff.h"
#include "executor/commit_policy.h"
#include "executor/receiver_health.h"

using namespace intray;
using namespace intray::executor;
using namespace std::chrono_literals;

TEST_CASE("commit policy: nothing to write is never committed") {
  CHECK_FALSE(commit_now({0, 0, 64, 1h}));
  CHECK_FALSE(commit_now({0, 10, 64, 1h}));
}

TEST_CASE("commit policy: an idle executor commits a single change at once") {
  CHECK(commit_now({1, 0, 64, 0us}));
  CHECK(commit_now({1, 0, 1, 0us}));
}

TEST_CASE("commit policy: under load a commit waits for half of the requests in flight") {
  CHECK_FALSE(commit_now({31, 33, 64, 0us}));
  CHECK(commit_now({32, 32, 64, 0us}));
}

TEST_CASE("commit policy: it never waits longer than the linger after the last commit") {
  CHECK_FALSE(commit_now({1, 63, 64, kCommitLinger - 1us}));
  CHECK(commit_now({1, 63, 64, kCommitLinger}));
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
