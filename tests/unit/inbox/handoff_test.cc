#include "inbox/handoff.h"

#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "inbox_fixture.h"

using namespace intray;
using base::ErrorCode;
using test::InboxFixture;
using test::value_of;

namespace {

inbox::Parcel parcel(std::int64_t offset_us = 0) {
  return {test::job_name(offset_us), "{\"job\":\"canonical bytes\"}"};
}

}  // namespace

TEST_CASE("hand_over: the job lies in new/ with its bytes and mode 0644, and tmp/ is empty") {
  const InboxFixture fixture;
  const auto p = parcel();
  const mode_t before = ::umask(077);
  const auto handed = inbox::hand_over(*fixture.box, p);
  ::umask(before);
  value_of(handed);
  CHECK(fixture.names("new") == std::vector<std::string>{p.name.str()});
  CHECK(fixture.names("tmp").empty());
  CHECK(test::read_text(fixture.path("new/" + p.name.str())) == p.bytes);
  CHECK(value_of(fixture.box->fresh.stat(p.name.str())).mode == 0644);
}

TEST_CASE("hand_over: the calls are the protocol's, in its order, and no more") {
  using sys::fault::Op;
  const InboxFixture fixture;
  const mode_t before = ::umask(022);  // under a narrower one the mode is set by hand
  std::vector<Op> calls;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    calls.push_back(op);
    return {};
  });
  const auto handed = inbox::hand_over(*fixture.box, parcel());
  sys::fault::set_hook({});
  ::umask(before);
  value_of(handed);
  CHECK(calls == std::vector<Op>{Op::kOpen, Op::kStat, Op::kWrite, Op::kSync, Op::kRename, Op::kSync});
}

TEST_CASE("hand_over: the same job twice is told, and the first one stays as it was") {
  const InboxFixture fixture;
  const auto p = parcel();
  value_of(inbox::hand_over(*fixture.box, p));
  CHECK(inbox::hand_over(*fixture.box, p).error().code == ErrorCode::kExists);
  CHECK(test::read_text(fixture.path("new/" + p.name.str())) == p.bytes);
  CHECK(fixture.names("tmp").empty());
}

TEST_CASE("hand_over: only the very bytes in new/ are this job handed over; under anything else it is not accepted") {
  const InboxFixture fixture;
  const auto p = parcel();
  const std::string path = fixture.path("new/" + p.name.str());
  const auto refused = [&](const char* what) {
    INFO(what);
    CHECK(inbox::hand_over(*fixture.box, p).error().code == ErrorCode::kBusy);
    CHECK(inbox::hand_over_batch(*fixture.box, std::vector{p, p}, 1)[1].error().code == ErrorCode::kBusy);
    CHECK(fixture.names("tmp").empty());
    std::filesystem::remove(path);
  };
  test::write_text(path, "something else");
  refused("another file");
  test::write_text(path, p.bytes.substr(0, 5));
  refused("the beginning, as a power failure may leave it");
  test::write_text(path, p.bytes + " ");
  refused("more than it");
  std::filesystem::create_symlink(fixture.path("nowhere"), path);
  refused("a link");
  REQUIRE(::mkfifo(path.c_str(), 0644) == 0);
  refused("a pipe");
  std::filesystem::create_directory(path);
  refused("a directory");
  value_of(inbox::hand_over(*fixture.box, p));
}

TEST_CASE("hand_over: a job that is taken between the rename and the look is handed over for itself") {
  using sys::fault::Op;
  const InboxFixture fixture;
  const auto p = parcel();
  test::write_text(fixture.path("new/" + p.name.str()), "an earlier file");
  int opens = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    // The first open is of tmp/, the second the look.
    if (op == Op::kOpen && ++opens == 2) std::filesystem::remove(fixture.path("new/" + p.name.str()));
    return {.skipped = test::is_sync(op)};
  });
  const auto handed = inbox::hand_over(*fixture.box, p);
  sys::fault::set_hook({});
  value_of(handed);
  CHECK(opens == 2);
  CHECK(test::read_text(fixture.path("new/" + p.name.str())) == p.bytes);
  CHECK(fixture.names("tmp").empty());
}

TEST_CASE("hand_over: what a cut-off attempt left in tmp/ is no obstacle and no false success") {
  const InboxFixture fixture;
  const auto p = parcel();
  test::write_text(fixture.path("tmp/" + p.name.str()), "half a j");
  value_of(inbox::hand_over(*fixture.box, p));
  CHECK(test::read_text(fixture.path("new/" + p.name.str())) == p.bytes);
  CHECK(fixture.names("tmp") == std::vector<std::string>{p.name.str()});
  CHECK(test::read_text(fixture.path("tmp/" + p.name.str())) == "half a j");
}

// Fails the 1st, 2nd, 3rd… disk call until a run finishes untouched.
TEST_CASE("hand_over: every failed step leaves one copy and an honest error") {
  const InboxFixture fixture;
  for (const test::Way& way : test::ways_to_fail()) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 50);
      fixture.clear();
      const auto p = parcel();
      base::Result<void> handed;
      {
        const test::FailNth fail(at, way.verdict, way.from_then_on);
        handed = inbox::hand_over(*fixture.box, p);
        finished = fail.calls() < at;
      }
      const bool in_new = fixture.names("new") == std::vector<std::string>{p.name.str()};
      if (finished || way.verdict.error == 0 || way.verdict.error == EINTR) CHECK(handed);
      // Only a job that is not in new/ may be called not accepted; one that is may at most be called uncertain.
      if (handed) {
        CHECK(in_new);
        CHECK(test::read_text(fixture.path("new/" + p.name.str())) == p.bytes);
      } else if (handed.error().code == ErrorCode::kOutcomeUnknown) {
        CHECK((in_new || way.from_then_on));  // a disk that answers nothing any more can't be asked where the job is
      } else {
        CHECK_FALSE(in_new);
        CHECK(fixture.names("new").empty());
        CHECK((handed.error().code == ErrorCode::kIo || handed.error().code == ErrorCode::kNoSpace));
      }
      CHECK((in_new ? 1 : 0) + static_cast<int>(fixture.names("tmp").size()) <= 1);
      if (!way.from_then_on && !way.verdict.done_anyway) CHECK(fixture.names("tmp").empty());

      const auto again = inbox::hand_over(*fixture.box, p);
      CHECK((again.has_value() || again.error().code == ErrorCode::kExists));
      CHECK(again.has_value() != in_new);
      CHECK(test::read_text(fixture.path("new/" + p.name.str())) == p.bytes);
    }
  }
}

TEST_CASE("hand_over: already handed over is only said when it is durable") {
  using sys::fault::Op;
  const InboxFixture fixture;
  const auto p = parcel();
  value_of(inbox::hand_over(*fixture.box, p));
  int syncs = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    if (op != Op::kSync || ++syncs < 2) return {};
    return {.error = EIO};
  });
  const auto again = inbox::hand_over(*fixture.box, p);
  sys::fault::set_hook({});
  CHECK(again.error().code == ErrorCode::kOutcomeUnknown);
}

TEST_CASE("hand_over: a missing tmp/ is told") {
  const InboxFixture fixture;
  std::filesystem::remove(fixture.path("tmp"));
  CHECK(inbox::hand_over(*fixture.box, parcel()).error().code == ErrorCode::kNotFound);
}

TEST_CASE("hand_over_batch: each has its own result, in order, with one sync of new/") {
  using sys::fault::Op;
  const InboxFixture fixture;
  std::vector<inbox::Parcel> parcels;
  for (int i = 0; i < 700; ++i) parcels.push_back(parcel(i));
  value_of(inbox::hand_over(*fixture.box, parcels[5]));
  std::atomic<int> syncs = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    if (op == Op::kSync) ++syncs;
    return {.skipped = op == Op::kSync};
  });
  const auto results = inbox::hand_over_batch(*fixture.box, parcels, 8);
  sys::fault::set_hook({});
  REQUIRE(results.size() == parcels.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i == 5)
      CHECK(results[i].error().code == ErrorCode::kExists);
    else
      CHECK(results[i]);
    CHECK(test::read_text(fixture.path("new/" + parcels[i].name.str())) == parcels[i].bytes);
  }
  CHECK(syncs == 700 + 1);
  CHECK(fixture.names("new").size() == 700);
  CHECK(fixture.names("tmp").empty());
  CHECK(inbox::hand_over_batch(*fixture.box, {}, 8).empty());
}

TEST_CASE("hand_over_batch: every failed step leaves one copy each and honest errors") {
  const InboxFixture fixture;
  for (const test::Way& way : test::ways_to_fail()) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 100);
      fixture.clear();
      const std::vector<inbox::Parcel> parcels{parcel(1), parcel(2), parcel(3)};
      std::vector<base::Result<void>> results;
      {
        const test::FailNth fail(at, way.verdict, way.from_then_on);
        results = inbox::hand_over_batch(*fixture.box, parcels, 1);
        finished = fail.calls() < at;
      }
      for (std::size_t i = 0; i < parcels.size(); ++i) {
        const bool in_new = std::filesystem::exists(fixture.path("new/" + parcels[i].name.str()));
        const bool accepted = results[i] || results[i].error().code == ErrorCode::kOutcomeUnknown;
        CHECK((accepted == in_new || (accepted && !results[i] && way.from_then_on)));
        if (finished) CHECK(results[i]);
      }
      for (const auto& again : inbox::hand_over_batch(*fixture.box, parcels, 4))
        CHECK((again.has_value() || again.error().code == ErrorCode::kExists));
      CHECK(fixture.names("new").size() == 3);
    }
  }
}
