#include "inbox/lanes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "inbox_fixture.h"
#include "limits.h"

using namespace intray;
using inbox::Lanes;
using test::InboxFixture;
using test::job_name;
using test::kNow;
using test::value_of;

namespace {

constexpr std::uint32_t kFlooder = 64'801;
constexpr std::uint32_t kOther = 64'802;
constexpr std::uint32_t kThird = 64'803;
constexpr std::uint32_t kUnlisted = 64'804;

std::string names_of(const std::vector<Lanes::Name>& names) {
  std::string text;
  for (const Lanes::Name& name : names) text += (text.empty() ? "" : " ") + name.name;
  return text;
}

std::string number(int i) {
  std::string digits = std::to_string(i);
  return std::string(6 - digits.size(), '0') + digits;
}

}  // namespace

TEST_CASE("lanes: owners are served in turn, each lane oldest first, and whoever is not listed shares one") {
  Lanes lanes({kFlooder, kOther});
  CHECK(lanes.empty());
  for (const char* const name : {"a3", "a1", "a2", "a4"}) CHECK(lanes.add(kFlooder, name, Lanes::From::kEvent));
  CHECK(lanes.add(kOther, "b1", Lanes::From::kEvent));
  CHECK(lanes.add(kUnlisted, "x1", Lanes::From::kEvent));
  CHECK(lanes.add(kThird, "x2", Lanes::From::kEvent));
  CHECK(names_of(lanes.next(5)) == "a1 b1 x1 a3 x2");
  CHECK(lanes.add(kOther, "b2", Lanes::From::kEvent));
  CHECK(names_of(lanes.next(5)) == "a2 b2 a4");
  CHECK(lanes.empty());
  CHECK(lanes.next(5).empty());
}

TEST_CASE("lanes: taken one at a time, the turn goes on where it stopped") {
  Lanes lanes({kFlooder, kOther, kThird});
  for (int i = 0; i < 100; ++i) CHECK(lanes.add(kFlooder, "a" + number(i), Lanes::From::kEvent));
  for (int i = 0; i < 2; ++i) CHECK(lanes.add(kOther, "b" + number(i), Lanes::From::kEvent));
  std::string order;
  for (int i = 0; i < 6; ++i) order += lanes.next(1).at(0).name[0];
  CHECK(order == "ababaa");
}

TEST_CASE("lanes: one lane's fullness is nobody else's") {
  Lanes lanes({kFlooder, kOther});
  std::size_t kept = 0;
  while (lanes.add(kFlooder, "a", Lanes::From::kEvent)) ++kept;
  CHECK(kept == limits::kPendingNamesMax / 3);
  CHECK(lanes.add(kOther, "b", Lanes::From::kEvent));
  CHECK(lanes.add(kUnlisted, "x", Lanes::From::kEvent));
  CHECK(lanes.add(kFlooder, "a", Lanes::From::kScan));
  CHECK(lanes.scanned() == 1);
}

TEST_CASE("lanes: a site of many requesters still has a few names of each, and no more") {
  std::set<std::uint32_t> uids;
  for (std::uint32_t uid = 1; uid <= 20'000; ++uid) uids.insert(uid);
  Lanes lanes(uids);
  std::size_t kept = 0;
  while (lanes.add(1, "a", Lanes::From::kEvent)) ++kept;
  CHECK(kept == limits::kLaneNamesMin);
}

TEST_CASE("lanes: while names keep coming in, every fourth of a lane is one that lay there before") {
  Lanes lanes({kFlooder});
  for (int i = 0; i < 12; ++i) CHECK(lanes.add(kFlooder, "new" + number(i), Lanes::From::kEvent));
  for (int i = 0; i < 3; ++i) CHECK(lanes.add(kFlooder, "old" + number(i), Lanes::From::kScan));
  int old = 0;
  for (const auto& name : lanes.next(8)) old += name.from == Lanes::From::kScan ? 1 : 0;
  CHECK(old == 2);
  CHECK(lanes.scanned() == 1);
}

TEST_CASE("lanes: what is put back comes first, in its order, and is counted again") {
  Lanes lanes({kFlooder, kOther});
  for (int i = 0; i < 3; ++i) CHECK(lanes.add(kFlooder, "a" + number(i), Lanes::From::kScan));
  CHECK(lanes.add(kOther, "b", Lanes::From::kScan));
  auto names = lanes.next(4);
  CHECK(lanes.scanned() == 0);
  const std::string before = names_of(names);
  lanes.put_back(names);
  CHECK(lanes.scanned() == 4);
  CHECK(names_of(lanes.next(4)) == before);
}

TEST_CASE("lanes: a scout sets out again for whoever it could not keep all of, once nothing of him is left") {
  Lanes lanes({kFlooder, kOther});
  lanes.scout_begins();
  CHECK_FALSE(lanes.scout_wanted());
  while (lanes.add(kOther, "b", Lanes::From::kScout)) {
  }
  CHECK_FALSE(lanes.scout_wanted());
  while (!lanes.empty()) static_cast<void>(lanes.next(1'000));
  CHECK(lanes.scout_wanted());
  lanes.scout_begins();
  CHECK_FALSE(lanes.scout_wanted());
  while (lanes.add(kUnlisted, "x", Lanes::From::kScout)) {
  }
  while (!lanes.empty()) static_cast<void>(lanes.next(1'000));
  CHECK_FALSE(lanes.scout_wanted());  // nobody goes out for strangers
}

// With files of several users, as the kernel tells their owners.

namespace {

// False: not root, and this test can't be done; said.
bool may_give_files_away() {
  if (::geteuid() == 0) return true;
  WARN("skipped: only root can make files of several users");
  return false;
}

void drop_of(const InboxFixture& fixture, std::uint32_t uid, const std::string& name) {
  fixture.drop(name, "{}");
  REQUIRE(::chown(fixture.path("new/" + name).c_str(), uid, uid) == 0);
}

// As many names of one user, quick to make: hard links, refused for it in the end.
void flood(const InboxFixture& fixture, int files) {
  test::write_text(fixture.temp / "one", "x");
  REQUIRE(::chown((fixture.temp / "one").c_str(), kFlooder, kFlooder) == 0);
  for (int i = 0; i < files; ++i)
    std::filesystem::create_hard_link(fixture.temp / "one", fixture.path("new/" + job_name(i).str()));
}

}  // namespace

TEST_CASE("intake: one file among the noted names of another's many is in the next batch") {
  if (!may_give_files_away()) return;
  const InboxFixture fixture;
  auto intake = fixture.intake({kFlooder, kOther});
  flood(fixture, 3'000);
  intake.note(fixture.names("new"));
  const std::string late = job_name(1'000'000'000).str();
  drop_of(fixture, kOther, late);
  intake.note({late});
  const auto taken = value_of(intake.take(4, kNow));
  REQUIRE(taken.files.size() == 4);
  int of_other = 0;
  for (const auto& file : taken.files) of_other += file.owner_uid == kOther ? 1 : 0;
  CHECK(of_other == 1);
}

TEST_CASE("intake: after a start, one file among another's many is found within a bounded number of calls") {
  if (!may_give_files_away()) return;
  constexpr int kFiles = 40'000;
  const InboxFixture fixture;
  // Wherever the filesystem lists it: the first, one in the middle, the last.
  drop_of(fixture, kOther, job_name(kFiles + 1).str());
  flood(fixture, kFiles);
  drop_of(fixture, kOther, job_name(kFiles + 2).str());
  drop_of(fixture, kThird, job_name(kFiles + 3).str());
  auto intake = fixture.intake({kFlooder, kOther, kThird});
  intake.rescan();
  std::map<std::uint32_t, int> found;
  int calls = 0;
  while (found[kOther] < 2 || found[kThird] < 1) {
    REQUIRE(++calls <= 3 + static_cast<int>(kFiles / limits::kScoutNamesPerTake));
    for (const auto& file : value_of(intake.take(16, kNow)).files) ++found[file.owner_uid];
  }
  CHECK(found[kFlooder] <= 16 * calls);
}

TEST_CASE("intake: a backlog of several owners is looked at a fixed number of times, and all of it is taken") {
  if (!may_give_files_away()) return;
  using sys::fault::Op;
  constexpr int kFiles = 20'000;
  const InboxFixture fixture;
  flood(fixture, kFiles);
  for (int i = 0; i < 100; ++i) drop_of(fixture, kOther, job_name(kFiles + i).str());
  auto intake = fixture.intake({kFlooder, kOther});
  intake.rescan();
  std::map<Op, int> calls;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    ++calls[op];
    return {};
  });
  std::map<std::uint32_t, int> got;
  while (intake.pending()) {
    const auto taken = intake.take(64, kNow);
    if (!taken) break;
    for (const auto& file : taken->files) ++got[file.owner_uid];
  }
  sys::fault::set_hook({});
  CHECK(got[kFlooder] == kFiles);
  CHECK(got[kOther] == 100);
  // The scan's look, the scout's, the one before the rename, fstat, and a name that both of them found: twice more.
  CHECK(calls[Op::kStat] <= 6 * (kFiles + 100));
  CHECK(calls[Op::kList] < 2 * kFiles / 200);
}

TEST_CASE("intake: who is held back keeps nobody else's file from being found, and is told the size") {
  if (!may_give_files_away()) return;
  const InboxFixture fixture;
  flood(fixture, 2'000);
  drop_of(fixture, kOther, job_name(1'000'000).str());
  auto intake = fixture.intake({kFlooder, kOther});
  intake.rescan();
  int of_other = 0;
  while (intake.pending()) {
    const auto taken = value_of(intake.take(16, kNow, [](std::uint32_t uid, std::int64_t bytes) {
      CHECK(bytes == (uid == kFlooder ? 1 : 2));
      return uid != kFlooder;
    }));
    for (const auto& file : taken.files) {
      CHECK(file.owner_uid == kOther);
      CHECK(file.counted_bytes == 2);
      ++of_other;
    }
  }
  CHECK(of_other == 1);
  CHECK(fixture.names("new").size() == 2'000);
}

TEST_CASE("intake: a noted file that became another's, or something else, is judged as what it is when it is taken") {
  if (!may_give_files_away()) return;
  const InboxFixture fixture;
  auto intake = fixture.intake({kFlooder, kOther});
  const std::string changes_owner = job_name(1).str();
  const std::string changes_type = job_name(2).str();
  const std::string grows = job_name(3).str();
  for (const std::string& name : {changes_owner, changes_type, grows}) drop_of(fixture, kFlooder, name);
  intake.note({changes_owner, changes_type, grows});
  drop_of(fixture, kOther, changes_owner);
  std::filesystem::remove(fixture.path("new/" + changes_type));
  REQUIRE(::mkfifo(fixture.path("new/" + changes_type).c_str(), 0644) == 0);
  REQUIRE(::truncate(fixture.path("new/" + grows).c_str(), 1LL << 40) == 0);
  std::map<std::uint32_t, std::int64_t> asked;
  const auto taken = value_of(intake.take(16, kNow, [&](std::uint32_t uid, std::int64_t bytes) {
    asked[uid] += bytes;
    return true;
  }));
  CHECK(asked == std::map<std::uint32_t, std::int64_t>{{kFlooder, limits::kJobFileBytesMax}, {kOther, 2}});
  CHECK(taken.files.size() == 2);
  REQUIRE(taken.strays.size() == 1);
  CHECK(taken.strays[0].detail == "fifo");
}
