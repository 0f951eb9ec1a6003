// Failing disk calls below Intake: no file is forgotten, none is taken twice.
#include <catch2/catch.hpp>

#include "inbox/intake.h"
#include "inbox_fixture.h"

using namespace intray;
using base::ErrorCode;
using model::Reason;
using test::InboxFixture;
using test::job_name;
using test::kNow;
using test::take_all;
using test::value_of;

TEST_CASE("take: an error of the directory forgets no file") {
  using sys::fault::Op;
  for (const int error : {ENOSPC, EMFILE, EROFS, EIO, EACCES}) {
    INFO(error);
    const InboxFixture fixture;
    std::vector<std::string> names;
    for (int i = 0; i < 5; ++i) {
      names.push_back(job_name(i).str());
      fixture.drop(names.back(), "x");
    }
    auto intake = fixture.intake();
    intake.note(names);
    sys::fault::set_hook([&](Op op) -> sys::fault::Verdict { return {.error = op == Op::kRename ? error : 0}; });
    const auto failed = intake.take(8, kNow);
    sys::fault::set_hook({});
    REQUIRE_FALSE(failed);
    CHECK(failed.error().sys_errno == error);
    CHECK(fixture.names("new").size() == 5);
    // What concerns all names is kept as noted; what may be one name's own trouble waits for a scan.
    const bool kept = error != EIO && error != EACCES;
    CHECK(intake.pending() == kept);
    if (!kept) intake.rescan();
    CHECK(take_all(intake).files.size() == 5);
  }
}

TEST_CASE("take: a directory that was removed is the admin's to mend, and no vanished file") {
  for (const char* const name : {"new", "lease/0"}) {
    INFO(name);
    const InboxFixture fixture;
    auto intake = fixture.intake();
    std::filesystem::remove(fixture.path(name));
    const std::string job = job_name().str();
    if (name == std::string("lease/0")) fixture.drop(job, "x");
    intake.note({job});
    CHECK(intake.take(8, kNow).error().code == ErrorCode::kDenied);
    intake.rescan();
    CHECK(intake.take(8, kNow).error().code == ErrorCode::kDenied);
  }
}

TEST_CASE("take: one bad name doesn't hide the others") {
  using sys::fault::Op;
  const InboxFixture fixture;
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    names.push_back(job_name(i).str());
    fixture.drop(names.back(), "x");
  }
  auto intake = fixture.intake();
  intake.note(names);
  int renames = 0;
  sys::fault::set_hook(
      [&](Op op) -> sys::fault::Verdict { return {.error = op == Op::kRename && ++renames == 1 ? EIO : 0}; });
  const auto taken = intake.take(8, kNow);
  sys::fault::set_hook({});
  CHECK(value_of(taken).files.size() == 4);
  intake.rescan();
  CHECK(take_all(intake).files.size() == 1);
}

TEST_CASE("take: out of descriptors, a taken file is read by a later call") {
  using sys::fault::Op;
  const InboxFixture fixture;
  for (int i = 0; i < 3; ++i) fixture.drop(job_name(i).str(), std::to_string(i));
  auto intake = fixture.intake();
  intake.note(fixture.names("new"));
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict { return {.error = op == Op::kOpen ? EMFILE : 0}; });
  const auto failed = intake.take(8, kNow);
  sys::fault::set_hook({});
  CHECK(failed.error().code == ErrorCode::kBusy);
  CHECK(fixture.names("lease/0").size() == 1);
  CHECK(intake.pending());
  const auto files = take_all(intake).files;
  REQUIRE(files.size() == 3);
  CHECK(files[0].bytes == "0");
}

// Fails the 1st, 2nd, 3rd… disk call until a run finishes untouched.
TEST_CASE("take: every failed step leaves one copy, and all are taken in the end") {
  const InboxFixture fixture;
  for (const test::Way& way : test::ways_to_fail()) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 100);
      fixture.clear();
      for (int i = 0; i < 3; ++i) fixture.drop(job_name(i).str(), "bytes");
      auto intake = fixture.intake();
      intake.rescan();
      std::vector<inbox::TakenFile> files;
      {
        const test::FailNth fail(at, way.verdict, way.from_then_on);
        if (auto taken = intake.take(8, kNow)) files = std::move(taken->files);
        finished = fail.calls() < at;
      }
      CHECK(fixture.names("new").size() + fixture.names("lease/0").size() == 3);
      CHECK(files.size() <= fixture.names("lease/0").size());
      intake.rescan();
      for (auto& file : take_all(intake).files) files.push_back(std::move(file));
      CHECK(fixture.names("new").empty());
      // A rename that a dying disk hid from us is found by the next start; until then nothing is known twice.
      const bool hidden = way.from_then_on;
      CHECK((files.size() == 3 || (hidden && files.size() < 3)));
      for (const auto& file : files) {
        CHECK(fixture.path("lease/0/" + file.name.str()).size() > 0);
        CHECK(std::filesystem::exists(fixture.path("lease/0/" + file.name.str())));
        CHECK((file.bytes == "bytes" || file.refused == Reason::kUnreadableFile));
      }
      auto restarted = fixture.intake();
      CHECK(value_of(restarted.leftovers(kNow)).size() == 3);
    }
  }
}
