// Every number that a system call can have, asked for with zero arguments: what is not on the list kills.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "attempt.h"
#include "connector.h"
#include "sys/seccomp_filter.h"
#include "sys/seccomp_tables.h"

namespace intray::test {
namespace {

constexpr long kLastNumber = 480;
constexpr long kUretprobe = 335;  // the kernel exempts these two from every filter
constexpr long kUprobe = 336;

struct Listed {
  bool allowed_always = false;
  bool conditional = false;
  bool no_such_call = false;
};

// The list that is kept beside the tests (tests/data/sandbox/<role>.calls), so that a wider one is somebody's decision.
std::map<std::string, Listed> read_list(const std::string& role) {
  const char* const folder = std::getenv("INTRAY_SANDBOX_DATA");
  REQUIRE(folder != nullptr);
  std::ifstream lines(std::string(folder) + "/" + role + ".calls");
  REQUIRE(lines);
  std::map<std::string, Listed> listed;
  std::string name, action;
  int conditions = 0;
  while (lines >> name >> action >> conditions) {
    Listed& entry = listed[name];
    if (action != "allow") {
      CHECK(action == "ENOSYS");
      entry.no_such_call = true;
    } else if (conditions == 0) {
      entry.allowed_always = true;
    } else {
      entry.conditional = true;
    }
  }
  return listed;
}

// Does a rule of the table hold for six zeros? `pinned`: no name stands for 0 but those of this list.
bool holds_for_zeros(const sys::FilterRule& rule) {
  for (int i = 0; i < rule.conditions; ++i) {
    const sys::FilterCondition& condition = rule.condition[i];
    // Descriptors 0 to 2 are never what a name stands for, and neither are a length, a mode, a pid.
    if (condition.compare == sys::FilterCompare::kAbove) return false;
    if (condition.compare == sys::FilterCompare::kEqual && (condition.name != nullptr || condition.value != 0))
      return false;
  }
  return true;
}

std::string name_of(long number) {
  std::array<char, 64> name{};
  sys::call_name(static_cast<int>(number), name.data(), name.size());
  return name[0] == '\0' ? std::to_string(number) : name.data();
}

using Try = std::function<Outcome(const std::function<long(const World&)>&)>;

void sweep(const std::string& role, const sys::FilterRule* rules, std::size_t count, const Try& try_it) {
  if (const auto why = no_kill_tests()) {
    std::cout << "SKIPPED: " << *why << "\n";
    return;
  }
  const auto listed = read_list(role);
  std::vector<long> numbers;
  for (long n = 0; n <= kLastNumber; ++n) numbers.push_back(n);
  for (const long n : {512L, 547L, 600L, 1000L, 65'535L, 0x3fffffffL, 0x7fffffffL, 0xffffffffL}) numbers.push_back(n);
  std::string wrong;
  int killed = 0;
  for (const long number : numbers) {
    if (number == kUretprobe || number == kUprobe) continue;
    const std::string name = name_of(number);
    // Outside of a handler it takes registers from wherever the stack points, and may end in any way.
    if (name == "rt_sigreturn") continue;
    const auto by_name = listed.find(name);
    const auto entry = by_name != listed.end() ? by_name : listed.find(std::to_string(number));
    const Listed what = entry == listed.end() ? Listed{} : entry->second;
    bool expect_kill = !what.allowed_always && !what.no_such_call;
    if (what.conditional)
      for (std::size_t i = 0; i < count; ++i)
        if (rules[i].call != nullptr && name == rules[i].call && holds_for_zeros(rules[i])) expect_kill = false;
    const Outcome outcome = try_it([number](const World&) { return call_words(number, {}); });
    const bool was_killed = fits(outcome, Expected::kKilled);
    killed += was_killed ? 1 : 0;
    const bool right = outcome.kind != Outcome::Kind::kNoLockDown && was_killed == expect_kill &&
                       (!what.no_such_call || fits(outcome, Expected::kNoSuchCall));
    if (!right)
      wrong += name + ": expected " + (expect_kill ? "SIGSYS" : "to be let through") + ", it " + outcome.text() + "\n";
  }
  CHECK(wrong == "");
  CHECK(killed >= 350);  // of 487: a sweep that kills nothing would say the same
}

TEST_CASE("intray-save: every call number from 0 to 480, and some far away") {
  const Scratch scratch;
  sweep("save", sys::kSave, sys::kSaveCount,
        [&](const auto& act) { return attempt(scratch, act, {.without_paths = sys::landlock_abi() < 2}); });
}

TEST_CASE("intray-connector: every call number from 0 to 480, and some far away") {
  sweep("connector", sys::kConnector, sys::kConnectorCount,
        [](const auto& act) { return connector_attempt([&](const ConnectorWorld&) { return act(World{}); }); });
}

}  // namespace
}  // namespace intray::test
