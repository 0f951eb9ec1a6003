#include "inbox/placement.h"

#include <catch2/catch.hpp>

#include "inbox_fixture.h"
#include "limits.h"

using namespace intray;
using base::ErrorCode;
using inbox::LeaseName;
using inbox::PlacedName;
using test::InboxFixture;
using test::value_of;

namespace {

struct Placing {
  const InboxFixture& fixture;
  inbox::JobName job = test::job_name();
  std::int64_t take = 1;

  std::string put() {
    const std::string name = LeaseName{.take = {take++}, .deaths = 0, .job = job, .bad_digest = {}}.str();
    test::write_text(fixture.path("lease/0/" + name), name);
    return name;
  }
  PlacedName want(const std::string& word) const {
    PlacedName name;
    name.job = job;
    name.word = word;
    return name;
  }
  base::Result<PlacedName> place(const std::string& from, const std::string& word = "APPLIED") const {
    return inbox::place(fixture.tree->slots[0], from, fixture.tree->done, want(word));
  }
};

}  // namespace

TEST_CASE("place: the name says why, and a name in use gets .2, .3 and so on") {
  const InboxFixture fixture;
  Placing placing{fixture};
  for (int copy = 1; copy <= 12; ++copy) {
    const std::string from = placing.put();
    const auto placed = value_of(placing.place(from));
    CHECK(placed.copy == copy);
    CHECK(placed.str() == placing.job.str() + (copy == 1 ? "" : "." + std::to_string(copy)) + ":2,APPLIED");
    CHECK(test::read_text(fixture.path("done/" + placed.str())) == from);
  }
  CHECK(value_of(placing.place(placing.put(), "NOT_CANONICAL")).copy == 1);
  CHECK(fixture.names("lease/0").empty());
}

TEST_CASE("place: a bad file goes by its time and take number") {
  const InboxFixture fixture;
  test::write_text(fixture.path("lease/0/5.0.0123456789abcdef.bad"), "x");
  PlacedName name;
  name.taken = base::from_us(test::kSomeTime_us);
  name.take = {5};
  name.word = "BAD_FILE_NAME";
  value_of(inbox::place(fixture.tree->slots[0], "5.0.0123456789abcdef.bad", fixture.tree->rejected, name));
  CHECK(fixture.names("rejected") == std::vector<std::string>{"1796044522123456.5.bad:2,BAD_FILE_NAME"});
}

TEST_CASE("place: thousands of copies of one name don't make the next one slow") {
  const InboxFixture fixture;
  Placing placing{fixture};
  PlacedName name = placing.want("APPLIED");
  test::write_text(fixture.temp / "one", "x");
  for (name.copy = 1; name.copy <= 3000; ++name.copy)
    std::filesystem::create_hard_link(fixture.temp / "one", fixture.path("done/" + name.str()));
  const std::string from = placing.put();
  int calls = 0;
  sys::fault::set_hook([&](sys::fault::Op) -> sys::fault::Verdict {
    ++calls;
    return {};
  });
  const auto placed = placing.place(from);
  sys::fault::set_hook({});
  CHECK(value_of(placed).copy == 3001);
  CHECK(calls < 40);
}

TEST_CASE("place: no free name is an error, and the file stays") {
  const InboxFixture fixture;
  Placing placing{fixture};
  PlacedName name = placing.want("APPLIED");
  name.copy = limits::kNameCopiesMax;
  REQUIRE(fixture.tree->done.create(name.str(), 0600));
  const std::string from = placing.put();
  const auto failed = inbox::place(fixture.tree->slots[0], from, fixture.tree->done, name);
  CHECK(failed.error().code == ErrorCode::kExists);
  CHECK(fixture.names("lease/0").size() == 1);
}

TEST_CASE("place: what is not there any more is told") {
  const InboxFixture fixture;
  const Placing placing{fixture};
  CHECK(placing.place("1.0.nothing").error().code == ErrorCode::kNotFound);
}

TEST_CASE("place: every failed step leaves one copy, and placing again works") {
  const InboxFixture fixture;
  for (const test::Way& way : test::ways_to_fail()) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 100);
      fixture.clear();
      Placing placing{fixture};
      for (int i = 0; i < 5; ++i) value_of(placing.place(placing.put()));
      const std::string from = placing.put();
      base::Result<PlacedName> placed;
      {
        const test::FailNth fail(at, way.verdict, way.from_then_on);
        placed = placing.place(from);
        finished = fail.calls() < at;
      }
      CHECK(fixture.names("lease/0").size() + fixture.names("done").size() == 6);
      if (placed) {
        CHECK(fixture.names("lease/0").empty());
        CHECK(test::read_text(fixture.path("done/" + placed->str())) == from);
      } else {
        const auto again = placing.place(from);
        CHECK((again.has_value() || again.error().code == ErrorCode::kNotFound));
        CHECK(fixture.names("lease/0").empty());
        CHECK(fixture.names("done").size() == 6);
      }
    }
  }
}

TEST_CASE("take_back: from cur/ into the lease under a new take number") {
  const InboxFixture fixture;
  Placing placing{fixture};
  const std::string from = placing.put();
  const auto placed = value_of(inbox::place(fixture.tree->slots[0], from, fixture.tree->cur, placing.want("")));
  CHECK(placed.str() == placing.job.str());
  const LeaseName as{.take = {99}, .deaths = 0, .job = placing.job, .bad_digest = {}};
  value_of(inbox::take_back(*fixture.tree, placed, base::Slot{0}, as));
  CHECK(fixture.names("lease/0") == std::vector<std::string>{as.str()});
  CHECK(inbox::take_back(*fixture.tree, placed, base::Slot{0}, as).error().code == ErrorCode::kNotFound);
}
