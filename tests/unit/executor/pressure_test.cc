#include "executor/pressure.h"

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

using namespace intray;
using executor::Pressure;

namespace {

// What was said.
struct Said {
  std::vector<Pressure::Change> changes;
  std::function<void(const Pressure::Change&)> listen() {
    return [this](const Pressure::Change& change) { changes.push_back(change); };
  }
};

}  // namespace

TEST_CASE("pressure: a requester at its limit is held back until a quarter is free, and that is said once each way") {
  Said said;
  Pressure pressure(8, 1'000, said.listen());
  for (int i = 0; i < 8; ++i) CHECK(pressure.may_take(1001));
  for (int i = 0; i < 50; ++i) CHECK_FALSE(pressure.may_take(1001));
  CHECK(pressure.may_take(1002));  // one in trouble is no trouble for the other
  REQUIRE(said.changes.size() == 1);
  CHECK(said.changes[0].over);
  CHECK(said.changes[0].limit == "limits.per_requester");
  CHECK(said.changes[0].uid == 1001U);
  CHECK(said.changes[0].count == 8);
  CHECK(said.changes.size() == 1);

  pressure.remove(1001);
  CHECK_FALSE(pressure.may_take(1001));
  CHECK_FALSE(pressure.room_again());
  pressure.remove(1001);
  CHECK(pressure.room_again());
  CHECK_FALSE(pressure.room_again());
  CHECK(said.changes.size() == 2);
  CHECK(pressure.may_take(1001));
  CHECK(pressure.may_take(1001));
  CHECK_FALSE(pressure.may_take(1001));
  CHECK(said.changes.size() == 3);
}

TEST_CASE("pressure: a limit of one lets one job through at a time") {
  Said said;
  Pressure pressure(1, 1'000, said.listen());
  for (int i = 0; i < 3; ++i) {
    CHECK(pressure.may_take(7));
    CHECK_FALSE(pressure.may_take(7));
    pressure.remove(7);
    CHECK(pressure.room_again());
  }
}

TEST_CASE("pressure: the ledger's count replaces what was counted here, other workers' jobs included") {
  Said said;
  Pressure pressure(3, 1'000, said.listen());
  const std::vector<ledger::OwnerCount> full = {{.owner_uid = 5, .jobs = 3}, {.owner_uid = 6, .jobs = 1}};
  pressure.recount(full);
  CHECK_FALSE(pressure.may_take(5));
  CHECK(pressure.may_take(6));
  pressure.recount({});
  CHECK(pressure.room_again());
  CHECK(pressure.may_take(5));
  for (int i = 0; i < 5; ++i) pressure.remove(5);  // more ends than are known of: another worker admitted them
  for (int i = 0; i < 3; ++i) CHECK(pressure.may_take(5));
  CHECK_FALSE(pressure.may_take(5));
}

TEST_CASE("pressure: the backlog is files in new/ and jobs that wait, said at each change and not at each count") {
  Said said;
  Pressure pressure(10, 100, said.listen());
  pressure.set_backlog(60, 40);
  CHECK_FALSE(pressure.over_backlog());
  for (int i = 0; i < 5; ++i) pressure.set_backlog(60, 41 + i);
  CHECK(pressure.over_backlog());
  CHECK(said.changes.size() == 1);
  pressure.set_backlog(0, 100);
  CHECK_FALSE(pressure.over_backlog());
  CHECK(said.changes.size() == 2);
}
