#include "inbox/backlog.h"

#include <catch2/catch.hpp>

#include "inbox_fixture.h"

using namespace intray;
using test::value_of;

TEST_CASE("backlog: counts what lies in new/, in helpings and no further than is asked for") {
  const test::InboxFixture fixture;
  for (int i = 0; i < 25; ++i) test::write_text(fixture.path("new/" + std::to_string(i)), "");
  inbox::BacklogCount count(*fixture.tree);
  int steps = 0;
  std::optional<std::int64_t> known;
  for (; !known && steps < 10; ++steps) known = value_of(count.step(10, 1'000));
  CHECK(known == 25);
  CHECK(steps == 4);  // 10, 10, 5 and the end

  CHECK_FALSE(value_of(count.step(10, 15)));
  CHECK(value_of(count.step(10, 15)) == 20);  // enough is known
  CHECK(value_of(count.step(100, 0)) == 25);

  fixture.clear();
  CHECK(value_of(count.step(10, 1'000)) == 0);
}

TEST_CASE("backlog: a count that failed begins anew") {
  const test::InboxFixture fixture;
  for (int i = 0; i < 5; ++i) test::write_text(fixture.path("new/" + std::to_string(i)), "");
  inbox::BacklogCount count(*fixture.tree);
  {
    const test::FailNth fail(1, {.error = EIO});
    CHECK_FALSE(count.step(10, 1'000));
  }
  CHECK_FALSE(value_of(count.step(10, 1'000)));
  CHECK(value_of(count.step(10, 1'000)) == 5);
}
