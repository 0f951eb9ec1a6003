#include "lease/policy.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace intray::lease {
namespace {

constexpr std::array<std::string_view, 4> kScopes{"claim", "effect:save", "effect:delete", "observe"};

}  // namespace

bool is_scope(const std::string& word) { return std::ranges::find(kScopes, word) != kScopes.end(); }

bool allows(std::span<const PolicyRule> rules, const Identity& identity, std::span<const std::string> scopes,
            bool takeover) {
  if (identity.tenant.empty() || identity.agent.empty() || identity.binding.empty()) return false;
  if (scopes.empty() || !std::ranges::all_of(scopes, is_scope)) return false;
  return std::ranges::any_of(rules, [&](const PolicyRule& rule) {
    return rule.tenant == identity.tenant && rule.agent == identity.agent && rule.binding == identity.binding &&
           (rule.takeover || !takeover) && std::ranges::all_of(scopes, [&](const std::string& scope) {
             return std::ranges::find(rule.scopes, scope) != rule.scopes.end();
           });
  });
}

}  // namespace intray::lease
