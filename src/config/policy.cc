#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/escape.h"
#include "config/document.h"
#include "config/key_builders.h"
#include "config/key_table.h"
#include "config/settings.h"
#include "config/settings_file.h"
#include "config/text_rules.h"

namespace intray::config {
namespace {

constexpr std::size_t kPolicyLinesMax = 1'000;

bool is_scope(std::string_view text) {
  return text == "claim" || text == "effect:save" || text == "effect:delete" || text == "observe";
}

// "save/0": an executor kind and the number of one of its slots.
bool is_binding(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !model::parse_kind(text.substr(0, slash))) return false;
  const std::string_view digits = text.substr(slash + 1);
  if (digits.empty() || digits.size() > 2 || (digits.size() > 1 && digits.front() == '0')) return false;
  return std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<Key<PolicyLine>> policy_keys() {
  using S = PolicyLine;
  const std::string name_rule = "a name of letters, digits, '.', '_' and '-'";
  return {
      required(text_key<S>(
                   "tenant", [](auto& s) -> auto& { return s.tenant; }, is_name, name_rule,
                   "As identity.tenant in the executor's file."),
               "\"acme\""),
      required(text_key<S>(
                   "agent", [](auto& s) -> auto& { return s.agent; }, is_name, name_rule,
                   "As identity.agent in the executor's file."),
               "\"save\""),
      required(text_key<S>(
                   "binding", [](auto& s) -> auto& { return s.binding; }, is_binding,
                   "a kind and one of its slots, like \"save/0\"", "Which slot."),
               "\"save/0\""),
      required(texts_key<S>(
                   "scopes", [](auto& s) -> auto& { return s.scopes; }, is_scope, 1, 4,
                   "a list out of \"claim\", \"effect:save\", \"effect:delete\", \"observe\"", "What it may do."),
               "[\"claim\", \"effect:save\", \"observe\"]"),
      flag_key<S>(
          "takeover", [](auto& s) -> auto& { return s.takeover; },
          "Whether it may take over the lease of a holder that died."),
  };
}

// The number in "lease[12].tenant", and what follows the dot; of an empty table, "lease[12]", nothing follows.
std::optional<std::pair<std::size_t, std::string>> split_line_key(std::string_view key) {
  constexpr std::string_view kPrefix = "lease[";
  if (!key.starts_with(kPrefix)) return std::nullopt;
  key.remove_prefix(kPrefix.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  if (error != std::errc{}) return std::nullopt;
  key.remove_prefix(static_cast<std::size_t>(end - key.data()));
  if (key == "]") return std::pair(number, std::string());
  if (!key.starts_with("].")) return std::nullopt;
  return std::pair(number, std::string(key.substr(2)));
}

}  // namespace

base::Result<LeasePolicy> parse_policy(const std::string& toml_text, const std::string& file_name) {
  std::vector<Problem> problems;
  std::vector<std::vector<Entry>> lines;
  for (Entry& entry : INTRAY_TRY(read_document(toml_text, file_name))) {
    auto split = split_line_key(entry.key);
    if (!split || split->first >= kPolicyLinesMax) {
      problems.push_back(
          {entry.value.place,
           base::escape(entry.key) + ": no such setting; a policy holds [[lease]] tables and nothing else"});
      continue;
    }
    if (lines.size() <= split->first) lines.resize(split->first + 1);
    if (!split->second.empty()) lines[split->first].push_back({std::move(split->second), std::move(entry.value)});
  }
  LeasePolicy out;
  for (std::vector<Entry>& entries : lines) {
    PolicyLine line;
    const Place first = entries.empty() ? Place{} : entries.front().value.place;
    const Seen seen = apply(policy_keys(), std::move(entries), line, problems);
    for (const Key<PolicyLine>& key : policy_keys())
      if (key.required && !seen.has(key.path))
        problems.push_back({first, fmt::format("{}: required in each [[lease]]; for example: {} = {}", key.path,
                                               key.path, key.example)});
    std::ranges::sort(line.scopes);
    line.scopes.erase(std::ranges::unique(line.scopes).begin(), line.scopes.end());
    out.lines.push_back(std::move(line));
  }
  if (!problems.empty()) return base::fail(base::ErrorCode::kInvalid, join_problems(file_name, std::move(problems)));
  return out;
}

base::Result<LeasePolicy> load_policy(const std::string& path) {
  const std::string text = INTRAY_TRY(read_settings_file(path));
  return parse_policy(text, path);
}

std::string policy_text(const std::string& tenant, const std::string& agent, model::JobKind kind, int slots) {
  std::string out =
      "# Who may hold a lease, and what for. What no [[lease]] table allows is refused.\n"
      "# takeover = true lets the next process take over from one that died.\n";
  for (int slot = 0; slot < slots; ++slot) {
    out += fmt::format(
        "\n[[lease]]\ntenant = {}\nagent = {}\nbinding = \"{}/{}\"\nscopes = [\"claim\", \"effect:{}\", \"observe\"]\n"
        "takeover = true\n",
        quoted(tenant), quoted(agent), model::to_word(kind), slot, model::to_word(kind));
  }
  return out;
}

}  // namespace intray::config
