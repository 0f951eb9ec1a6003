// What a requester may put into new/ besides honest jobs, and what it may do to a file meanwhile.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>

#include "inbox/intake.h"
#include "inbox_fixture.h"
#include "limits.h"

using namespace intray;
using model::Reason;
using test::InboxFixture;
using test::job_name;
using test::kNow;
using test::take_all;
using test::take_one;
using test::value_of;

namespace {

void make_socket(const std::string& path) {
  const sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

}  // namespace

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
