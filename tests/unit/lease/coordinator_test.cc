#include "lease/coordinator.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <type_traits>

#include "base/hash.h"

namespace intray::lease {
namespace {

using namespace std::chrono_literals;

struct CoordinatorFixture {
  base::FakeClock clock;
  bool stands = true;
  int looks = 0;
  Coordinator coordinator{[this] { return ++looks, stands; }, clock, 10s};
  base::AttemptId attempt = (base::init_crypto(), base::AttemptId::generate());
};

static_assert(!std::is_copy_constructible_v<model::Grant> && !std::is_default_constructible_v<model::Grant>);

TEST_CASE_METHOD(CoordinatorFixture, "a grant is for its attempt and one use, and rereads the lease at that moment") {
  model::Grant grant = coordinator.mint(attempt);
  CHECK(grant.attempt() == attempt);
  CHECK(looks == 0);
  CHECK(grant.consume());
  CHECK(looks == 1);
  CHECK_FALSE(grant.consume());
  CHECK(looks == 1);
}

TEST_CASE_METHOD(CoordinatorFixture, "what was moved from can't be used") {
  model::Grant first = coordinator.mint(attempt);
  model::Grant second = std::move(first);
  CHECK_FALSE(first.consume());  // NOLINT(bugprone-use-after-move): that is the point
  CHECK(second.consume());
}

TEST_CASE_METHOD(CoordinatorFixture, "a grant ends with its time to live by boot time") {
  model::Grant in_time = coordinator.mint(attempt);
  model::Grant late = coordinator.mint(attempt);
  clock.advance(10s - 1us);
  CHECK(in_time.consume());
  clock.advance(1us);
  CHECK_FALSE(late.consume());
}

TEST_CASE_METHOD(CoordinatorFixture, "a step of the wall clock changes nothing") {
  model::Grant grant = coordinator.mint(attempt);
  clock.step_wall(-1h);
  model::Grant other = coordinator.mint(attempt);
  clock.step_wall(48h);
  CHECK(grant.consume());
  CHECK(other.consume());
}

TEST_CASE_METHOD(CoordinatorFixture, "a grant does not outlive its lease") {
  model::Grant grant = coordinator.mint(attempt);
  stands = false;
  CHECK_FALSE(grant.consume());
  stands = true;
  CHECK_FALSE(grant.consume());  // it is used up all the same
}

TEST_CASE_METHOD(CoordinatorFixture, "a pause while the row is read is noticed") {
  Coordinator slow([this] { return clock.advance(11s), true; }, clock, 10s);
  CHECK_FALSE(slow.mint(attempt).consume());
}

TEST_CASE_METHOD(CoordinatorFixture, "revoking voids every grant, before and after") {
  model::Grant before = coordinator.mint(attempt);
  coordinator.revoke_all();
  CHECK_FALSE(before.consume());
  CHECK_FALSE(coordinator.mint(attempt).consume());
  CHECK(looks == 0);
}

TEST_CASE_METHOD(CoordinatorFixture, "settings only tighten the time to live") {
  Coordinator generous([] { return true; }, clock, 24h);
  model::Grant grant = generous.mint(attempt);
  model::Grant late = generous.mint(attempt);
  clock.advance(30s - 1us);
  CHECK(grant.consume());
  clock.advance(1us);
  CHECK_FALSE(late.consume());
  CHECK_FALSE(Coordinator([] { return true; }, clock, 0s).mint(attempt).consume());
  CHECK_FALSE(Coordinator(nullptr, clock).mint(attempt).consume());
}

TEST_CASE_METHOD(CoordinatorFixture, "a grant is void in another process") {
  model::Grant grant = coordinator.mint(attempt);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(grant.consume() ? 1 : 0);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(grant.consume());
}

TEST_CASE_METHOD(CoordinatorFixture, "a grant may outlive its coordinator") {
  auto short_lived = std::make_unique<Coordinator>([] { return true; }, clock);
  model::Grant grant = short_lived->mint(attempt);
  short_lived.reset();
  CHECK(grant.consume());
}

}  // namespace
}  // namespace intray::lease
