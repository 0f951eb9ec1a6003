// Purpose: an inbox of this user in a directory that goes with the test, and jobs to put into it.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "../sys/temp_dir.h"
#include "base/ids.h"
#include "inbox/intake.h"
#include "inbox/layout.h"
#include "inbox/names.h"
#include "sys/fault.h"

namespace intray::test {

inline constexpr base::TakeNumber kFirstTake{7 * base::kTakesPerEpoch};
inline constexpr std::int64_t kSomeTime_us = 1'796'044'522'123'456;

inline inbox::Owners this_user() {
  return {.executor_uid = ::geteuid(),
          .requester_gid = ::getegid(),
          .admin_gid = ::getegid(),
          .root_uid = ::geteuid(),
          .root_gid = ::getegid(),
          .user_mode = true};
}

inline inbox::JobName job_name(std::int64_t offset_us = 0) {
  return {.created = base::from_us(kSomeTime_us + offset_us), .job_id = base::JobId::generate()};
}

// As the kernel stores it (linux/posix_acl_xattr.h, little endian): user::rwx, user:12345:r-x, group::---, mask::r-x,
// other::---.
inline std::string acl_for_one_more_user() {
  constexpr std::uint32_t kNobody = 0xffffffff;
  struct Entry {
    std::uint16_t tag;
    std::uint16_t rights;
    std::uint32_t id;
  };
  std::string out("\x02\0\0\0", 4);
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xffU));
  };
  for (const Entry& entry : {Entry{0x01, 7, kNobody}, Entry{0x02, 5, 12345}, Entry{0x04, 0, kNobody},
                             Entry{0x10, 5, kNobody}, Entry{0x20, 0, kNobody}}) {
    put(entry.tag, 2);
    put(entry.rights, 2);
    put(entry.id, 4);
  }
  return out;
}

inline bool is_sync(sys::fault::Op op) { return op == sys::fault::Op::kSync || op == sys::fault::Op::kDataSync; }

// What no test asks about costs no flush: sweeps make hundreds of trees.
class WithoutSyncs {
 public:
  WithoutSyncs() {
    sys::fault::set_hook([](sys::fault::Op op) -> sys::fault::Verdict { return {.skipped = is_sync(op)}; });
  }
  WithoutSyncs(const WithoutSyncs&) = delete;
  WithoutSyncs& operator=(const WithoutSyncs&) = delete;
  ~WithoutSyncs() { sys::fault::set_hook({}); }
};

class InboxFixture {
 public:
  explicit InboxFixture(int slots = 1) {
    {
      const WithoutSyncs fast;
      value_of(inbox::make(temp.path(), model::JobKind::kSave, this_user(), slots));
    }
    box.emplace(value_of(inbox::DropBox::open(temp.path(), model::JobKind::kSave)));
    tree.emplace(value_of(inbox::Inbox::open(temp.path(), model::JobKind::kSave, slots, true)));
  }

  std::string path(const std::string& name) const { return temp.path() + "/save/" + name; }
  std::vector<std::string> names(const std::string& directory) const { return names_in(path(directory)); }
  // Removes every file that a test put there or moved, so that a sweep can go on with the same tree.
  void clear() const {
    for (const char* const directory : {"tmp", "new", "cur", "lease/0", "done", "receipts"})
      for (const std::string& name : names(directory))
        std::filesystem::remove(path(std::string(directory) + "/" + name));
  }
  // As a requester that cares for nothing: no sync.
  void drop(const std::string& name, const std::string& bytes) const {
    write_text(path("tmp/x"), bytes);
    std::filesystem::rename(path("tmp/x"), path("new/" + name));
  }
  inbox::Intake intake(std::set<std::uint32_t> uids = {::geteuid()}) const {
    return inbox::Intake(*tree, base::Slot{0}, kFirstTake, std::move(uids));
  }

  TempDir temp;
  std::optional<inbox::DropBox> box;
  std::optional<inbox::Inbox> tree;
};

inline const base::WallTime kNow = base::from_us(kSomeTime_us + 1'000'000);

// Takes until nothing is pending.
inline inbox::TakeOutcome take_all(inbox::Intake& intake, std::size_t batch = 64) {
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

// The one file there is, taken.
inline inbox::TakenFile take_one(const InboxFixture& fixture, std::set<std::uint32_t> uids = {::geteuid()}) {
  auto intake = fixture.intake(std::move(uids));
  intake.rescan();
  auto all = take_all(intake);
  REQUIRE(all.files.size() == 1);
  CHECK(fixture.names("new").empty());
  CHECK(fixture.names("lease/0") == std::vector<std::string>{all.files[0].name.str()});
  return all.files[0];
}

// Fails disk call number `at` (counted from 1), once or from then on.
class FailNth {
 public:
  FailNth(int at, sys::fault::Verdict verdict, bool from_then_on = false) {
    sys::fault::set_hook([this, at, verdict, from_then_on](sys::fault::Op op) -> sys::fault::Verdict {
      ++calls_;
      const bool hit = from_then_on ? calls_ >= at : calls_ == at;
      return hit ? verdict : sys::fault::Verdict{.skipped = is_sync(op)};
    });
  }
  FailNth(const FailNth&) = delete;
  FailNth& operator=(const FailNth&) = delete;
  ~FailNth() { sys::fault::set_hook({}); }
  int calls() const { return calls_; }

 private:
  int calls_ = 0;
};

// The ways in which a call may fail that a sweep goes through.
struct Way {
  const char* name;
  sys::fault::Verdict verdict;
  bool from_then_on;
};
inline std::vector<Way> ways_to_fail() {
  return {{"EIO once", {.error = EIO}, false},
          {"EIO from then on", {.error = EIO}, true},
          {"EIO though done", {.error = EIO, .done_anyway = true}, false},
          {"ENOSPC once", {.error = ENOSPC}, false},
          {"ENOSPC from then on", {.error = ENOSPC}, true},
          {"EINTR once", {.error = EINTR}, false},
          {"half a write", {.half_write = true}, false}};
}

}  // namespace intray::test
