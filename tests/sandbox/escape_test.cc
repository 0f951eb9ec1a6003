// Every way out that somebody thought of, tried from within: with both layers for each Landlock ABI, and with each
// layer alone, where exactly the cases that the other layer is there for must come through.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <set>

#include "attempt.h"
#include "sys/landlock.h"

namespace intray::test {
namespace {

constexpr int kTruncateAbi = 3;
constexpr int kScopesAbi = 6;

bool skipped(int abi_needed, bool kills = true) {
  if (const auto why = no_kill_tests(); why && kills) {
    std::cout << "SKIPPED: " << *why << "\n";
    return true;
  }
  if (sys::landlock_abi() >= abi_needed) return false;
  std::cout << "SKIPPED: Landlock ABI " << abi_needed << " is needed, this kernel has " << sys::landlock_abi() << "\n";
  return true;
}

std::string finding(const Case& c, Expected expected, const Outcome& outcome) {
  return c.name + ": expected " + to_word(expected) + ", it " + outcome.text();
}

// All findings, one a line; empty: as expected.
std::string run_table(const Scratch& scratch, const confine::WeakenedForTests& weakened, bool allow_reduced,
                      const std::function<std::optional<Expected>(const Case&)>& expected) {
  std::string wrong;
  for (const Case& c : all_cases()) {
    const std::optional<Expected> want = expected(c);
    if (!want) continue;
    const Outcome outcome = attempt(scratch, c.act, weakened, allow_reduced);
    if (!fits(outcome, Expected::kKilled)) scratch.tidy();  // an attempt that got further may have left something
    if (!fits(outcome, *want)) wrong += finding(c, *want, outcome) + "\n";
  }
  return wrong;
}

TEST_CASE("the table is as long as it was, and no case stands twice in it") {
  std::set<std::string> names;
  for (const Case& c : all_cases()) CHECK(names.insert(c.name).second);
  const auto escapes = std::ranges::count_if(all_cases(), [](const Case& c) { return c.full != Expected::kWorks; });
  const auto killed = std::ranges::count_if(all_cases(), [](const Case& c) { return c.full == Expected::kKilled; });
  CHECK(escapes >= 330);
  CHECK(killed >= 250);
  CHECK(all_cases().size() - static_cast<std::size_t>(escapes) >= 30);
}

TEST_CASE("both layers, each Landlock ABI from 2 to 7: no escape works, and a worker works") {
  if (skipped(2)) return;
  const Scratch scratch;
  const int abi = GENERATE(7, 6, 5, 4, 3, 2);
  CAPTURE(abi);
  const std::string wrong = run_table(scratch, {.abi_max = abi}, false, [&](const Case& c) {
    // At ABI 2 Landlock can't say "truncate"; a file made after the lock-down is then open to it.
    if (c.needs_truncate_rule && std::min(abi, sys::landlock_abi()) < kTruncateAbi) return Expected::kWorks;
    return c.full;
  });
  CHECK(wrong == "");
}

TEST_CASE("the filter alone: the paths that Landlock is there for are open, and nothing else") {
  if (skipped(0)) return;
  const Scratch scratch;
  CHECK(run_table(scratch, {.without_paths = true}, false, [](const Case& c) { return c.filter_only; }) == "");
}

TEST_CASE("Landlock alone: the calls that the filter is there for work, and no path is open") {
  if (skipped(kScopesAbi, false)) return;
  const Scratch scratch;
  CHECK(run_table(scratch, {.without_calls = true}, false, [](const Case& c) { return c.paths_only; }) == "");
}

TEST_CASE("each layer alone lets enough through to be missed") {
  const auto open = [](auto member) {
    return std::ranges::count_if(
        all_cases(), [&](const Case& c) { return c.full != Expected::kWorks && c.*member == Expected::kWorks; });
  };
  CHECK(open(&Case::filter_only) >= 40);
  CHECK(open(&Case::paths_only) >= 70);
}

TEST_CASE("below ABI 2 nothing starts unless the site allows it, and then no path is protected") {
  const Scratch scratch;
  const auto honest = [](const World&) { return 0L; };
  const int abi = GENERATE(1, 0);
  CAPTURE(abi);
  CHECK(attempt(scratch, honest, {.abi_max = abi}).kind == Outcome::Kind::kNoLockDown);
  CHECK(attempt(scratch, honest, {.abi_max = abi}, true).worked());
  CHECK(confine::survey(abi).level == confine::Level::kNone);
  CHECK(confine::survey(abi).line.starts_with("none: "));
  if (skipped(0)) return;
  CHECK(run_table(scratch, {.abi_max = abi}, true, [](const Case& c) { return c.filter_only; }) == "");
}

TEST_CASE("a survey says full from ABI 3 on, reduced at 2, and what is missing") {
  if (skipped(7, false)) return;
  CHECK(confine::survey(7).level == confine::Level::kFull);
  CHECK(confine::survey(7).missing.empty());
  CHECK(confine::survey(3).level == confine::Level::kFull);
  CHECK(confine::survey(3).missing.size() == 3);
  CHECK(confine::survey(2).level == confine::Level::kReduced);
  CHECK(confine::survey(2).line.find("truncation") != std::string::npos);
}

}  // namespace
}  // namespace intray::test
