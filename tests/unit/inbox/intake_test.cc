#include "inbox/intake.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>

#include "inbox_fixture.h"
#include "limits.h"

using namespace intray;
using base::ErrorCode;
using model::Reason;
using test::InboxFixture;
using test::job_name;
using test::kNow;
using test::take_all;
using test::take_one;
using test::value_of;

TEST_CASE("take: a good file is renamed under a take number, then read") {
  const InboxFixture fixture;
  const auto name = job_name();
  fixture.drop(name.str(), "bytes");
  const auto file = take_one(fixture);
  CHECK(file.bytes == "bytes");
  CHECK_FALSE(file.refused);
  CHECK(file.dropped_name == name.str());
  CHECK(file.name.job == name);
  CHECK(file.name.take == test::kFirstTake);
  CHECK(file.name.deaths == 0);
  CHECK(file.owner_uid == ::geteuid());
  CHECK(file.taken_at == kNow);
}

TEST_CASE("take: oldest first within a batch, each with a number of its own") {
  const InboxFixture fixture;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back(job_name(i).str());
  for (const std::size_t i : {7U, 3U, 19U, 0U, 11U}) fixture.drop(names[i], "x");
  auto intake = fixture.intake();
  CHECK_FALSE(intake.pending());
  intake.note({names[7], names[3], names[19], names[0], names[11]});
  CHECK(intake.pending());
  const auto taken = value_of(intake.take(3, kNow));
  REQUIRE(taken.files.size() == 3);
  CHECK(taken.files[0].dropped_name == names[3]);
  CHECK(taken.files[1].dropped_name == names[7]);
  CHECK(taken.files[2].dropped_name == names[19]);
  CHECK(taken.files[1].name.take.value == test::kFirstTake.value + 1);
  CHECK(value_of(intake.take(3, kNow)).files.size() == 2);
  CHECK_FALSE(intake.pending());
  CHECK(value_of(intake.take(3, kNow)).files.empty());
}

TEST_CASE("take: the same name dropped again doesn't collide with the first") {
  const InboxFixture fixture;
  const auto name = job_name();
  auto intake = fixture.intake();
  for (int i = 0; i < 3; ++i) {
    fixture.drop(name.str(), std::to_string(i));
    intake.note({name.str()});
    CHECK(value_of(intake.take(10, kNow)).files.at(0).bytes == std::to_string(i));
  }
  CHECK(fixture.names("lease/0").size() == 3);
}

TEST_CASE("take: what vanished is counted, not an error") {
  const InboxFixture fixture;
  const auto name = job_name();
  fixture.drop(name.str(), "x");
  auto intake = fixture.intake();
  intake.note({job_name(1).str(), name.str(), job_name(2).str()});
  const auto taken = value_of(intake.take(8, kNow));
  CHECK(taken.files.size() == 1);
  CHECK(taken.vanished == 2);
}

TEST_CASE("take: two workers never get the same file") {
  const InboxFixture fixture(2);
  for (int i = 0; i < 50; ++i) fixture.drop(job_name(i).str(), "x");
  auto first = fixture.intake();
  inbox::Intake second(*fixture.tree, base::Slot{1}, {8 * base::kTakesPerEpoch}, {::geteuid()});
  first.rescan();
  second.rescan();
  // Both have read the directory's names before either takes the rest.
  std::set<std::string> got;
  int vanished = 0;
  while (first.pending() || second.pending()) {
    for (auto* const worker : {&first, &second}) {
      const auto taken = value_of(worker->take(7, kNow));
      vanished += taken.vanished;
      for (const auto& file : taken.files) CHECK(got.insert(file.dropped_name).second);
    }
  }
  CHECK(got.size() == 50);
  CHECK(vanished > 0);
  CHECK(fixture.names("lease/0").size() + fixture.names("lease/1").size() == 50);
}

TEST_CASE("take: too many noted names become a scan") {
  const InboxFixture fixture;
  const auto noted = job_name(1);
  const auto never_noted = job_name(2);
  fixture.drop(noted.str(), "x");
  fixture.drop(never_noted.str(), "x");
  auto intake = fixture.intake();
  const std::vector<std::string> many(10'000, noted.str());
  for (std::size_t times = 0; times <= limits::kPendingNamesMax; times += many.size()) intake.note(many);
  const auto taken = take_all(intake);
  CHECK(taken.files.size() == 2);
  CHECK(taken.vanished <= static_cast<int>(limits::kPendingNamesMax));
}

TEST_CASE("take: while names keep coming in, the backlog moves too") {
  const InboxFixture fixture;
  const auto old = job_name(-1'000'000);
  fixture.drop(old.str(), "old");
  auto intake = fixture.intake();
  intake.rescan();
  bool old_taken = false;
  for (int i = 0; i < 20 && !old_taken; ++i) {
    std::vector<std::string> fresh;
    for (int k = 0; k < 8; ++k) {
      fresh.push_back(job_name(i * 100 + k).str());
      fixture.drop(fresh.back(), "new");
    }
    intake.note(std::move(fresh));
    for (const auto& file : value_of(intake.take(8, kNow)).files)
      old_taken = old_taken || file.dropped_name == old.str();
  }
  CHECK(old_taken);
}

TEST_CASE("take: a backlog is streamed once, and each batch costs the same") {
  using sys::fault::Op;
  constexpr int kFiles = 20'000;
  const InboxFixture fixture;
  // Hard links of one file: as many names, refused for it in the end, and quick to make and to remove.
  test::write_text(fixture.temp / "one", "x");
  for (int i = 0; i < kFiles; ++i)
    std::filesystem::create_hard_link(fixture.temp / "one", fixture.path("new/" + job_name(i).str()));
  std::map<Op, int> calls;
  auto intake = fixture.intake();
  intake.rescan();
  std::set<std::string> got;
  int worst_batch = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    ++calls[op];
    return {};
  });
  while (intake.pending()) {
    const int before = calls[Op::kStat] + calls[Op::kRename] + calls[Op::kOpen];
    const auto taken = intake.take(64, kNow);
    if (!taken) break;
    for (const auto& file : taken->files) got.insert(file.dropped_name);
    worst_batch = std::max(worst_batch, calls[Op::kStat] + calls[Op::kRename] + calls[Op::kOpen] - before);
  }
  sys::fault::set_hook({});
  CHECK(got.size() == kFiles);
  // One getdents64 returns some 400 names: 50 for the whole directory, and a few for its end.
  CHECK(calls[Op::kList] < kFiles / 200);
  CHECK(worst_batch <= 64 * 5 + 1);  // fstatat for its owner, fstatat, renameat2, openat, fstat
}

TEST_CASE("leftovers: what lies in the lease is read again in take order, and strangers stay") {
  const InboxFixture fixture;
  const auto a = job_name(5);
  const auto b = job_name(1);
  test::write_text(fixture.path("lease/0/9.1." + a.str()), "nine");
  test::write_text(fixture.path("lease/0/10.0." + b.str()), "ten");
  test::write_text(fixture.path("lease/0/8.0.0123456789abcdef.bad"), "bad");
  test::write_text(fixture.path("lease/0/notes.txt"), "an admin's");
  REQUIRE(::mkfifo(fixture.path("lease/0/11.0." + a.str()).c_str(), 0600) == 0);
  auto intake = fixture.intake();
  const auto files = value_of(intake.leftovers(kNow));
  REQUIRE(files.size() == 4);
  CHECK(files[0].refused == Reason::kBadFileName);
  CHECK(files[0].dropped_name == "8.0.0123456789abcdef.bad");
  CHECK(files[1].bytes == "nine");
  CHECK(files[1].name.deaths == 1);
  CHECK(files[1].dropped_name == a.str());
  CHECK(files[2].bytes == "ten");
  CHECK(files[3].refused == Reason::kBadFileType);
  CHECK(test::read_text(fixture.path("lease/0/notes.txt")) == "an admin's");
}

TEST_CASE("count_death: the number in the name goes up before the next reading") {
  const InboxFixture fixture;
  const auto name = job_name();
  test::write_text(fixture.path("lease/0/9.0." + name.str()), "x");
  auto intake = fixture.intake();
  auto lease_name = value_of(intake.leftovers(kNow)).at(0).name;
  lease_name = value_of(intake.count_death(lease_name));
  CHECK(lease_name.deaths == 1);
  CHECK(fixture.names("lease/0") == std::vector<std::string>{"9.1." + name.str()});
  lease_name.deaths = limits::kDeathsMax;
  std::filesystem::rename(fixture.path("lease/0/9.1." + name.str()), fixture.path("lease/0/" + lease_name.str()));
  CHECK(value_of(intake.count_death(lease_name)).deaths == limits::kDeathsMax);
  lease_name.deaths = 5;
  CHECK(intake.count_death(lease_name).error().code == ErrorCode::kNotFound);
}

TEST_CASE("remove_stale_tmp: old files go, young ones and strangers stay") {
  using namespace std::chrono_literals;
  const InboxFixture fixture;
  const base::SystemClock clock;
  test::write_text(fixture.path("tmp/a"), "x");
  std::filesystem::create_directory(fixture.path("tmp/d"));
  // The requester's own time stamp doesn't keep a file for ever.
  std::filesystem::last_write_time(fixture.path("tmp/a"), std::filesystem::file_time_type::clock::now() + 1000h);
  CHECK(value_of(inbox::remove_stale_tmp(*fixture.tree, clock.wall(), 36h)).empty());
  CHECK(value_of(inbox::remove_stale_tmp(*fixture.tree, clock.wall() + 37h, 36h)) == std::vector<std::string>{"a"});
  CHECK(fixture.names("tmp") == std::vector<std::string>{"d"});
}

TEST_CASE("intake: what its owner may not hand over now stays in new/, for a later scan, and the rest is taken") {
  const test::InboxFixture fixture;
  for (int i = 0; i < 6; ++i) fixture.drop(test::job_name(i).str(), "{}");
  REQUIRE(::mkfifo(fixture.path("new/fifo").c_str(), 0644) == 0);
  auto intake = fixture.intake();
  intake.rescan();
  int asked = 0;
  const auto two = [&asked](std::uint32_t uid, std::int64_t bytes) {
    CHECK(bytes == 2);
    CHECK(uid == ::geteuid());
    return ++asked <= 2;
  };
  const auto first = value_of(intake.take(64, test::kNow, two));
  CHECK(first.files.size() == 2);
  CHECK(first.held_back == 4);
  CHECK(first.strays.size() == 1);  // nobody is asked about what is never taken
  CHECK(fixture.names("new").size() == 4);
  while (intake.pending()) CHECK(value_of(intake.take(64, test::kNow, two)).files.empty());

  intake.rescan();
  CHECK(test::take_all(intake).files.size() == 4);
  CHECK(fixture.names("new").empty());
}
