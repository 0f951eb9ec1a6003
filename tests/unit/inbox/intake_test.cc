#include "inbox/intake.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
using test::value_of;

namespace {

const base::WallTime kNow = base::from_us(test::kSomeTime_us + 1'000'000);

// Takes until nothing is pending.
inbox::TakeOutcome take_all(inbox::Intake& intake, std::size_t batch = 64) {
  inbox::TakeOutcome all;
  while (intake.pending()) {
    auto some = value_of(intake.take(batch, kNow));
    CHECK(some.files.size() <= batch);
    std::move(some.files.begin(), some.files.end(), std::back_inserter(all.files));
    std::move(some.strays.begin(), some.strays.end(), std::back_inserter(all.strays));
    all.vanished += some.vanished;
  }
  return all;
}

inbox::TakenFile take_one(const InboxFixture& fixture, std::set<std::uint32_t> uids = {::geteuid()}) {
  auto intake = fixture.intake(std::move(uids));
  intake.rescan();
  auto all = take_all(intake);
  REQUIRE(all.files.size() == 1);
  CHECK(fixture.names("new").empty());
  CHECK(fixture.names("lease/0") == std::vector<std::string>{all.files[0].name.str()});
  return all.files[0];
}

void make_socket(const std::string& path) {
  const sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

}  // namespace

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

TEST_CASE("take: what is no regular file never reaches the lease") {
  const InboxFixture fixture;
  test::write_text(fixture.temp / "secret", "not for the requester");
  REQUIRE(::mkfifo(fixture.path("new/" + job_name(1).str()).c_str(), 0666) == 0);
  REQUIRE(::symlink((fixture.temp / "secret").c_str(), fixture.path("new/" + job_name(2).str()).c_str()) == 0);
  REQUIRE(::symlink("/", fixture.path("new/" + job_name(3).str()).c_str()) == 0);
  REQUIRE(::symlink("dangling", fixture.path("new/" + job_name(4).str()).c_str()) == 0);
  make_socket(fixture.path("new/s"));
  REQUIRE(::mkdir(fixture.path("new/" + job_name(5).str()).c_str(), 0700) == 0);
  const auto good = job_name(6);
  fixture.drop(good.str(), "good");

  auto intake = fixture.intake();
  intake.rescan();
  const auto all = take_all(intake);
  std::map<std::string, int> kinds;
  for (const auto& stray : all.strays) {
    ++kinds[stray.detail];
    CHECK(stray.removed == (stray.detail != "directory"));
    CHECK(stray.owner_uid == ::geteuid());
  }
  CHECK(kinds == std::map<std::string, int>{{"directory", 1}, {"fifo", 1}, {"socket", 1}, {"symlink", 3}});
  REQUIRE(all.files.size() == 1);
  CHECK(all.files[0].bytes == "good");
  CHECK(test::read_text(fixture.temp / "secret") == "not for the requester");
  CHECK(fixture.names("new").size() == 1);

  // The directory is known now, and said once.
  intake.rescan();
  const auto second = take_all(intake);
  CHECK(second.strays.empty());
  CHECK(second.files.empty());
}

TEST_CASE("take: a directory that can't be moved hides nobody else") {
  const InboxFixture fixture;
  for (int i = 0; i < 300; ++i) std::filesystem::create_directory(fixture.path("new/d" + std::to_string(i)));
  for (int i = 0; i < 10; ++i) fixture.drop(job_name(i).str(), "x");
  auto intake = fixture.intake();
  for (int round = 0; round < 2; ++round) {
    intake.rescan();
    const auto all = take_all(intake, 4);
    CHECK(all.files.size() == (round == 0 ? 10U : 0U));
    CHECK(all.strays.size() == (round == 0 ? 300U : 0U));
  }
}

TEST_CASE("take: hostile files are refused, each for its reason") {
  const InboxFixture fixture;
  const auto name = job_name();
  SECTION("empty") {
    fixture.drop(name.str(), "");
    CHECK(take_one(fixture).refused == Reason::kEmptyFile);
  }
  SECTION("at the limit") {
    fixture.drop(name.str(), std::string(limits::kJobFileBytesMax, 'x'));
    const auto file = take_one(fixture);
    CHECK_FALSE(file.refused);
    CHECK(file.bytes.size() == limits::kJobFileBytesMax);
  }
  SECTION("over the limit") {
    fixture.drop(name.str(), std::string(limits::kJobFileBytesMax + 1, 'x'));
    const auto file = take_one(fixture);
    CHECK(file.refused == Reason::kOversized);
    CHECK(file.bytes.empty());
  }
  SECTION("huge and sparse") {
    fixture.drop(name.str(), "x");
    REQUIRE(::truncate(fixture.path("new/" + name.str()).c_str(), 1LL << 40) == 0);
    CHECK(take_one(fixture).refused == Reason::kOversized);
  }
  SECTION("a second hard link") {
    fixture.drop(name.str(), "x");
    std::filesystem::create_hard_link(fixture.path("new/" + name.str()), fixture.temp / "second");
    CHECK(take_one(fixture).refused == Reason::kBadFileType);
  }
  SECTION("not a requester's") {
    fixture.drop(name.str(), "x");
    const auto file = take_one(fixture, {::geteuid() + 1});
    CHECK(file.refused == Reason::kBadFileOwner);
    CHECK(file.owner_uid == ::geteuid());
    CHECK(file.bytes.empty());
  }
  SECTION("unreadable") {
    if (::geteuid() == 0) {
      WARN("skipped: root can read every file");
      return;
    }
    fixture.drop(name.str(), "x");
    REQUIRE(::chmod(fixture.path("new/" + name.str()).c_str(), 0) == 0);
    CHECK(take_one(fixture).refused == Reason::kUnreadableFile);
  }
}

TEST_CASE("take: a file that can't be opened or read is refused, not retried") {
  using sys::fault::Op;
  for (const Op op : {Op::kOpen, Op::kRead}) {
    const InboxFixture fixture;
    const auto name = job_name();
    fixture.drop(name.str(), "x");
    auto intake = fixture.intake();
    intake.note({name.str()});
    sys::fault::set_hook([&](Op asked) -> sys::fault::Verdict { return {.error = asked == op ? EACCES : 0}; });
    const auto taken = intake.take(8, kNow);
    sys::fault::set_hook({});
    const auto files = value_of(taken).files;
    REQUIRE(files.size() == 1);
    CHECK(files[0].refused == Reason::kUnreadableFile);
    CHECK(files[0].owner_uid == ::geteuid());
    CHECK_FALSE(intake.pending());
  }
}

TEST_CASE("take: bad names are taken as .bad, unread, with the name kept") {
  const std::vector<std::string> bad = {
      "x",
      "-rf",
      ".hidden",
      "a b",
      "new\nline",
      "\x1b[31mred\x1b[0m",
      "\xff\xfe\xfd",
      "\xc2\x85",
      std::string(255, 'a'),
      job_name().str() + ".2",
      job_name().str() + ":2,APPLIED",
      "1796044522123456.0B0E7F3A-5C1D-4E2F-8A9B-0C1D2E3F4A5B.json",
  };
  for (const std::string& raw : bad) {
    INFO(raw);
    const InboxFixture fixture;
    fixture.drop(raw, "bytes that nobody reads");
    const auto file = take_one(fixture);
    CHECK(file.refused == Reason::kBadFileName);
    CHECK(file.bytes.empty());
    CHECK(file.dropped_name == raw);
    CHECK_FALSE(file.name.job);
    CHECK(file.name.bad_digest == inbox::digest_of_name(raw));
    CHECK(file.owner_uid == ::geteuid());
    CHECK(file.detail.find_first_of("\n\x1b") == std::string::npos);
  }
}

TEST_CASE("take: whoever holds the file open changes nothing that counts") {
  const InboxFixture fixture;
  const auto name = job_name();
  fixture.drop(name.str(), "honest");
  const int kept = ::open(fixture.path("new/" + name.str()).c_str(), O_WRONLY);
  REQUIRE(kept >= 0);
  auto intake = fixture.intake();
  intake.rescan();
  const auto file = take_all(intake).files.at(0);
  REQUIRE(::pwrite(kept, "hacked", 6, 0) == 6);
  ::close(kept);
  CHECK(file.bytes == "honest");
}

TEST_CASE("take: a type swapped between the look and the rename is caught in the lease, and nothing blocks") {
  using sys::fault::Op;
  const InboxFixture fixture;
  test::write_text(fixture.temp / "secret", "secret");
  const auto name = job_name();
  const std::string path = fixture.path("new/" + name.str());
  const auto swap_before_rename = [&](const std::function<void()>& put) {
    fixture.drop(name.str(), "honest");
    auto intake = fixture.intake();
    intake.note({name.str()});
    sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
      if (op == Op::kRename) {
        std::filesystem::remove(path);
        put();
      }
      return {};
    });
    const auto taken = intake.take(8, kNow);
    sys::fault::set_hook({});
    const auto files = value_of(taken).files;
    REQUIRE(files.size() == 1);
    return files[0];
  };
  SECTION("a symlink") {
    const auto file = swap_before_rename([&] { std::filesystem::create_symlink(fixture.temp / "secret", path); });
    CHECK(file.refused == Reason::kBadFileType);
    CHECK(file.bytes.empty());
  }
  SECTION("a fifo") {
    const auto file = swap_before_rename([&] { static_cast<void>(!::mkfifo(path.c_str(), 0666)); });
    CHECK(file.refused == Reason::kBadFileType);
  }
  SECTION("a socket") {
    const auto file = swap_before_rename([&] { make_socket(path); });
    CHECK(file.refused == Reason::kBadFileType);
  }
  SECTION("a directory") {
    const auto file = swap_before_rename([&] { std::filesystem::create_directory(path); });
    CHECK(file.refused == Reason::kBadFileType);
  }
  SECTION("another file, between two events: the one that is there counts") {
    const auto file = swap_before_rename([&] { test::write_text(path, "replaced"); });
    CHECK_FALSE(file.refused);
    CHECK(file.bytes == "replaced");
  }
}

TEST_CASE("take: a file that grows or shrinks after the look at its size is judged by what was read") {
  using sys::fault::Op;
  for (const bool grow : {true, false}) {
    const InboxFixture fixture;
    const auto name = job_name();
    fixture.drop(name.str(), "x");
    auto intake = fixture.intake();
    intake.note({name.str()});
    sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
      if (op == Op::kRead)
        std::filesystem::resize_file(fixture.path("lease/0/" + fixture.names("lease/0").at(0)), grow ? 1'000'000 : 0);
      return {};
    });
    const auto taken = intake.take(8, kNow);
    sys::fault::set_hook({});
    const auto file = value_of(taken).files.at(0);
    CHECK(file.refused == (grow ? Reason::kOversized : Reason::kEmptyFile));
    CHECK(file.bytes.empty());
  }
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
  const auto name = job_name();
  fixture.drop(name.str(), "x");
  auto intake = fixture.intake();
  const std::vector<std::string> many(10'000, "nothing");
  for (std::size_t noted = 0; noted <= limits::kPendingNamesMax; noted += many.size()) intake.note(many);
  const auto taken = take_all(intake);
  CHECK(taken.files.size() == 1);
  CHECK(taken.vanished <= static_cast<int>(many.size()));
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
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = job_name(i).str();
    test::value_of(sys::write_all(value_of(fixture.tree->fresh.create(name, 0600)).get(), "x"));
  }
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
  CHECK(worst_batch <= 64 * 4 + 1);  // fstatat, renameat2, openat, fstat
}

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
  for (const test::Way& way : test::ways_to_fail()) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 100);
      const InboxFixture fixture;
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
