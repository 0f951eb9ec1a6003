#include "model/grant.h"

#include <catch2/catch.hpp>
#include <type_traits>
#include <utility>

// Stands in for the one class that may mint; this program does not link the real one.
namespace intray::lease {
class Coordinator {
 public:
  static model::Grant mint(base::AttemptId attempt, std::function<bool()> still_valid) {
    return model::Grant(attempt, std::move(still_valid));
  }
};
}  // namespace intray::lease

namespace intray::model {
namespace {

static_assert(!std::is_copy_constructible_v<Grant> && !std::is_copy_assignable_v<Grant>);
static_assert(!std::is_default_constructible_v<Grant>);
static_assert(std::is_nothrow_move_constructible_v<Grant>);

TEST_CASE("grant: is consumed once, after a look at what makes it valid") {
  int looks = 0;
  const auto attempt = base::AttemptId::generate();
  Grant grant = lease::Coordinator::mint(attempt, [&] { return ++looks > 0; });
  CHECK(grant.attempt() == attempt);
  CHECK(looks == 0);
  CHECK(grant.consume());
  CHECK(looks == 1);
  CHECK(!grant.consume());
  CHECK(looks == 1);
}

TEST_CASE("grant: one that no longer holds is refused and used up") {
  bool valid = false;
  Grant grant = lease::Coordinator::mint(base::AttemptId::generate(), [&] { return valid; });
  CHECK(!grant.consume());
  valid = true;
  CHECK(!grant.consume());
}

TEST_CASE("grant: moving it leaves nothing behind") {
  Grant first = lease::Coordinator::mint(base::AttemptId::generate(), [] { return true; });
  Grant second = std::move(first);
  CHECK(!first.consume());  // NOLINT(bugprone-use-after-move): that it is empty is the point
  Grant third = lease::Coordinator::mint(base::AttemptId::generate(), [] { return false; });
  third = std::move(second);
  CHECK(!second.consume());  // NOLINT(bugprone-use-after-move)
  CHECK(third.consume());
}

}  // namespace
}  // namespace intray::model
