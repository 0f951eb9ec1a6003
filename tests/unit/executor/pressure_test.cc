#include "executor/pressure.h"

#include <catch2/catch.hpp>
#include <functional>
#include <vector>

using namespace intray;
using executor::Pressure;

namespace {

constexpr std::int64_t kPlenty = 1LL << 40U;

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
  Pressure pressure({.jobs = 8, .bytes = kPlenty}, 1'000, said.listen());
  for (int i = 0; i < 8; ++i) CHECK(pressure.may_take(1001, 1));
  for (int i = 0; i < 50; ++i) CHECK_FALSE(pressure.may_take(1001, 1));
  CHECK(pressure.may_take(1002, 1));  // one in trouble is no trouble for the other
  REQUIRE(said.changes.size() == 1);
  CHECK(said.changes[0].over);
  CHECK(said.changes[0].limit == "limits.per_requester");
  CHECK(said.changes[0].uid == 1001U);
  CHECK(said.changes[0].count == 8);
  CHECK(said.changes.size() == 1);

  pressure.remove(1001, 1);
  CHECK_FALSE(pressure.may_take(1001, 1));
  CHECK_FALSE(pressure.room_again());
  pressure.remove(1001, 1);
  CHECK(pressure.room_again());
  CHECK_FALSE(pressure.room_again());
  CHECK(said.changes.size() == 2);
  CHECK(pressure.may_take(1001, 1));
  CHECK(pressure.may_take(1001, 1));
  CHECK_FALSE(pressure.may_take(1001, 1));
  CHECK(said.changes.size() == 3);
}

TEST_CASE("pressure: a limit of one lets one job through at a time") {
  Said said;
  Pressure pressure({.jobs = 1, .bytes = kPlenty}, 1'000, said.listen());
  for (int i = 0; i < 3; ++i) {
    CHECK(pressure.may_take(7, 1));
    CHECK_FALSE(pressure.may_take(7, 1));
    pressure.remove(7, 1);
    CHECK(pressure.room_again());
  }
}

TEST_CASE("pressure: the ledger's count replaces what was counted here, other workers' jobs included") {
  Said said;
  Pressure pressure({.jobs = 3, .bytes = kPlenty}, 1'000, said.listen());
  const std::vector<ledger::OwnerCount> full = {{.owner_uid = 5, .jobs = 3}, {.owner_uid = 6, .jobs = 1}};
  pressure.recount(full);
  CHECK_FALSE(pressure.may_take(5, 1));
  CHECK(pressure.may_take(6, 1));
  pressure.recount({});
  CHECK(pressure.room_again());
  CHECK(pressure.may_take(5, 1));
  for (int i = 0; i < 5; ++i) pressure.remove(5, 1);  // more ends than are known of: another worker admitted them
  for (int i = 0; i < 3; ++i) CHECK(pressure.may_take(5, 1));
  CHECK_FALSE(pressure.may_take(5, 1));
}

TEST_CASE("pressure: the backlog is files in new/ and jobs that wait, said at each change and not at each count") {
  Said said;
  Pressure pressure({.jobs = 10, .bytes = kPlenty}, 100, said.listen());
  pressure.set_backlog(60, 40);
  CHECK_FALSE(pressure.over_backlog());
  for (int i = 0; i < 5; ++i) pressure.set_backlog(60, 41 + i);
  CHECK(pressure.over_backlog());
  CHECK(said.changes.size() == 1);
  pressure.set_backlog(0, 100);
  CHECK_FALSE(pressure.over_backlog());
  CHECK(said.changes.size() == 2);
}

TEST_CASE(
    "pressure: a requester's bytes are counted beside its jobs, and what does not fit waits for a quarter of them") {
  Said said;
  Pressure pressure({.jobs = 100, .bytes = 1'000}, 1'000, said.listen());
  for (int i = 0; i < 3; ++i) CHECK(pressure.may_take(1001, 300));
  CHECK_FALSE(pressure.may_take(1001, 300));
  CHECK_FALSE(pressure.may_take(1001, 1));  // held back: no small one slips by and keeps it at its limit
  CHECK(pressure.may_take(1002, 1'000));
  REQUIRE(said.changes.size() == 1);
  CHECK(said.changes[0].limit == "limits.per_requester_bytes");
  CHECK(said.changes[0].uid == 1001U);
  CHECK(said.changes[0].count == 900);
  pressure.remove(1001, 300);
  CHECK(pressure.room_again());
  REQUIRE(said.changes.size() == 2);
  CHECK_FALSE(said.changes[1].over);
  CHECK(said.changes[1].limit == "limits.per_requester_bytes");
  CHECK(pressure.may_take(1001, 300));
  CHECK_FALSE(pressure.may_take(1001, 300));

  // What was left in new/ must fit before it is looked for again.
  const std::vector<ledger::OwnerCount> counts = {{.owner_uid = 1001, .jobs = 1, .bytes = 740},
                                                  {.owner_uid = 1002, .jobs = 1, .bytes = 1'000}};
  pressure.recount(counts);
  CHECK_FALSE(pressure.room_again());
  CHECK_FALSE(pressure.may_take(1001, 300));
  const std::vector<ledger::OwnerCount> fewer = {{.owner_uid = 1001, .jobs = 1, .bytes = 700}};
  pressure.recount(fewer);
  CHECK(pressure.room_again());
  CHECK(pressure.may_take(1001, 300));
  CHECK_FALSE(pressure.may_take(1001, 300));
}

TEST_CASE("pressure: a file counts as what was read of it, and the only one fits in any case") {
  Said said;
  Pressure pressure({.jobs = 100, .bytes = 1'000}, 1'000, said.listen());
  CHECK(pressure.may_take(7, 2'000));
  CHECK_FALSE(pressure.may_take(7, 1));
  pressure.remove(7, 2'000);
  CHECK(pressure.may_take(7, 100));
  pressure.resize(7, 100, 900);  // it grew between the look and the reading
  CHECK_FALSE(pressure.may_take(7, 101));
  pressure.remove(7, 900);
  CHECK(pressure.may_take(7, 1'000));
}
