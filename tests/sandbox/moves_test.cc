// Which directory a job's file may move to from which: all pairs, by the descriptors that the filter knows, by absolute
// names that it can't see, and with Landlock alone.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <set>

#include "attempt.h"
#include "sys/landlock.h"

namespace intray::test {
namespace {

using Pair = std::pair<std::string, std::string>;

const std::set<Pair>& allowed_moves() {
  static const std::set<Pair> moves = {
      {"save/new", "save/lease/0"},      {"save/lease/0", "save/lease/0"}, {"save/lease/0", "save/cur"},
      {"save/cur", "save/lease/0"},      {"save/lease/0", "save/done"},    {"save/lease/0", "save/failed"},
      {"save/lease/0", "save/rejected"}, {"save/lease/0", "save/unknown"}, {"save/cur", "save/done"},
      {"save/cur", "save/failed"},       {"save/cur", "save/rejected"},    {"save/cur", "save/unknown"},
  };
  return moves;
}

// What Landlock lets through besides: it knows rights of directories, not pairs. Never anything that leaves the inbox,
// enters new/ or receipts/, or comes out of a final directory.
const std::set<Pair>& also_by_path() {
  static const std::set<Pair> moves = {
      {"save/cur", "save/cur"},    {"save/new", "save/cur"},      {"save/new", "save/done"},
      {"save/new", "save/failed"}, {"save/new", "save/rejected"}, {"save/new", "save/unknown"},
  };
  return moves;
}

// Errors of a refusal by Landlock, and by nothing else here.
bool is_refusal(const Outcome& outcome) { return fits(outcome, Expected::kRefused); }

void check_all_pairs(const confine::WeakenedForTests& weakened, bool by_descriptor, bool with_filter) {
  const Scratch scratch;
  std::string wrong;
  for (const std::string& from : Scratch::places())
    for (const std::string& to : Scratch::places()) {
      const Outcome outcome = attempt(
          scratch,
          [&](const World& w) {
            if (by_descriptor)
              return call(SYS_renameat2, w.directory(from), "m", w.directory(to), "got", RENAME_NOREPLACE);
            return call(SYS_renameat2, w.slot, w.path(from + "/m").c_str(), w.slot, w.path(to + "/got").c_str(),
                        RENAME_NOREPLACE);
          },
          weakened);
      if (outcome.worked()) scratch.tidy();
      const Pair pair{from, to};
      const bool allowed =
          allowed_moves().contains(pair) || (also_by_path().contains(pair) && !(by_descriptor && with_filter));
      const bool right = allowed                          ? outcome.worked()
                         : (by_descriptor && with_filter) ? fits(outcome, Expected::kKilled)
                                                          : is_refusal(outcome);
      if (!right)
        wrong += from + " to " + to + (allowed ? " must work, it " : " must be refused, it ") + outcome.text() + "\n";
    }
  CHECK(wrong == "");
}

bool skipped() {
  if (const auto why = no_kill_tests()) {
    std::cout << "SKIPPED: " << *why << "\n";
    return true;
  }
  if (sys::landlock_abi() >= 2) return false;
  std::cout << "SKIPPED: this kernel's Landlock has no rule for moves\n";
  return true;
}

TEST_CASE("moves by descriptor: a job's ways work, every other pair of directories is death") {
  if (skipped()) return;
  const int abi = GENERATE(7, 2);
  CAPTURE(abi);
  check_all_pairs({.abi_max = abi}, true, true);
}

TEST_CASE("moves by absolute names: none leaves the inbox, whatever the pair of descriptors") {
  if (skipped()) return;
  const int abi = GENERATE(7, 2);
  CAPTURE(abi);
  check_all_pairs({.abi_max = abi}, false, true);
}

TEST_CASE("moves with Landlock alone: the same as by absolute names") {
  if (skipped()) return;
  check_all_pairs({.without_calls = true}, true, false);
}

// The rules of landlock(7) that the plan is built on (confine/executor_plan.cc), so that a kernel which reads them
// otherwise is noticed here, not in production.
TEST_CASE("Landlock's rule of renames: both sides named, and no right gained") {
  if (skipped()) return;
  namespace right = sys::landlock;
  constexpr auto kFrom = right::kRemoveFile | right::kRefer;
  constexpr auto kTo = right::kMakeReg | right::kRefer;
  struct Row {
    std::uint64_t from, to;
    int error;
  };
  const Row row =
      GENERATE(Row{kFrom, kTo, 0}, Row{right::kRemoveFile, kTo, EXDEV}, Row{kFrom, right::kMakeReg, EXDEV},
               Row{right::kRefer, kTo, EACCES}, Row{kFrom, right::kRefer, EACCES},
               Row{kFrom, kTo | right::kReadFile, EXDEV}, Row{kFrom, kTo | right::kWriteFile, EXDEV},
               Row{kFrom, kTo | right::kExecute, EXDEV}, Row{kFrom | right::kReadFile, kTo | right::kReadFile, 0},
               Row{kFrom | right::kReadFile, kTo, 0}, Row{kFrom, kTo | right::kReadDir, 0});
  CAPTURE(row.from, row.to);
  const Scratch scratch;
  const Outcome outcome =
      attempt(scratch,
              [&](const World& w) -> long {
                const std::array<sys::LandlockRule, 2> rules{{{w.fresh, row.from}, {w.slot, row.to}}};
                if (sys::landlock_restrict({.rules = rules.data(), .count = rules.size()}).step != nullptr) return -1;
                return call(SYS_renameat2, w.fresh, "m", w.slot, "got", RENAME_NOREPLACE);
              },
              {.without_calls = true, .without_paths = true});
  CAPTURE(outcome.text());
  CHECK((row.error == 0 ? outcome.worked() : outcome.kind == Outcome::Kind::kError && outcome.number == row.error));
}

}  // namespace
}  // namespace intray::test
