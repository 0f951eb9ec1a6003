// Purpose:    decides whether an identity may hold a lease, with these scopes: default deny.
// Trust:      the rules are root's file; identity and scopes are the executor's own configuration, never a job's.
// Thread use: pure.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace intray::lease {

// One line of policy.toml.
struct PolicyRule {
  std::string tenant;
  std::string agent;
  std::string binding;  // "save/0"
  std::vector<std::string> scopes;
  bool takeover = false;
};

struct Identity {
  std::string tenant;
  std::string agent;
  std::string binding;
};

// The closed list: "claim", "effect:save", "effect:delete", "observe".
bool is_scope(const std::string& word);

// True where one rule names exactly this identity, all of these scopes (at least one, each of the closed list), and
// takeover where that is asked for. Rules are not added up; with no rule nothing is allowed.
bool allows(std::span<const PolicyRule> rules, const Identity& identity, std::span<const std::string> scopes,
            bool takeover);

}  // namespace intray::lease
