#include "lease/policy.h"

#include <catch2/catch.hpp>

namespace intray::lease {
namespace {

const Identity kSave{"acme", "save", "save/0"};
const std::vector<std::string> kScopes{"claim", "effect:save", "observe"};
const PolicyRule kRule{"acme", "save", "save/0", kScopes, false};

bool ask(const std::vector<PolicyRule>& rules, const Identity& identity, const std::vector<std::string>& scopes,
         bool takeover) {
  return allows(rules, identity, scopes, takeover);
}

TEST_CASE("no rule, no lease") { CHECK_FALSE(ask({}, kSave, kScopes, false)); }

TEST_CASE("a rule allows exactly its identity and its scopes, in any order and number") {
  CHECK(ask({kRule}, kSave, kScopes, false));
  CHECK(ask({kRule}, kSave, {"observe"}, false));
  CHECK(ask({kRule}, kSave, {"observe", "claim"}, false));
  CHECK_FALSE(ask({kRule}, kSave, {"claim", "effect:delete"}, false));
  CHECK_FALSE(ask({kRule}, {"other", "save", "save/0"}, kScopes, false));
  CHECK_FALSE(ask({kRule}, {"acme", "delete", "save/0"}, kScopes, false));
  CHECK_FALSE(ask({kRule}, {"acme", "save", "save/1"}, kScopes, false));
  CHECK_FALSE(ask({kRule}, {"ACME", "save", "save/0"}, kScopes, false));
}

TEST_CASE("takeover is a permission of its own") {
  CHECK_FALSE(ask({kRule}, kSave, kScopes, true));
  PolicyRule with_takeover = kRule;
  with_takeover.takeover = true;
  CHECK(ask({with_takeover}, kSave, kScopes, true));
  CHECK(ask({with_takeover}, kSave, kScopes, false));
}

TEST_CASE("rules are not added up") {
  const PolicyRule one{"acme", "save", "save/0", {"claim"}, true};
  const PolicyRule two{"acme", "save", "save/0", {"observe"}, false};
  CHECK_FALSE(ask({one, two}, kSave, {"claim", "observe"}, false));
  CHECK_FALSE(ask({one, two}, kSave, {"observe"}, true));
  CHECK(ask({one, two}, kSave, {"observe"}, false));
}

TEST_CASE("nothing and unknown words are not scopes") {
  PolicyRule odd = kRule;
  odd.scopes.emplace_back("everything");
  CHECK_FALSE(ask({odd}, kSave, {}, false));
  CHECK_FALSE(ask({odd}, kSave, {"everything"}, false));
  CHECK_FALSE(ask({odd}, kSave, {"claim", ""}, false));
  CHECK_FALSE(ask({{"", "", "", kScopes, true}}, {"", "", ""}, kScopes, false));
  for (const char* word : {"claim", "effect:save", "effect:delete", "observe"}) CHECK(is_scope(word));
}

}  // namespace
}  // namespace intray::lease
