// The file that `intray init` writes: the key table in prose.

#include <fmt/format.h>

#include <algorithm>

#include "config/document.h"
#include "config/key_table.h"
#include "config/settings.h"
#include "config/settings_keys.h"

namespace intray::config {
namespace {

constexpr std::size_t kCommentColumns = 100;

void comment(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > kCommentColumns) {
      end = text.rfind(' ', kCommentColumns);
      if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
    }
    out += "# " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "receiver.url" is url of the table receiver; a key without a dot belongs to no table.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? std::pair(std::string_view{}, path)
                                       : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

std::string as_sentence(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text + ".";
}

// Key path to TOML literal, of what the caller knows.
std::vector<std::pair<std::string, std::string>> given(const InitValues& values) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto text = [&](std::string key, const std::string& value) {
    if (!value.empty()) out.emplace_back(std::move(key), quoted(value));
  };
  text("root", values.root);
  text("receiver.url", values.receiver_url);
  text("receiver.credential_file", values.credential_file);
  text("receiver.ca_file", values.ca_file);
  text("git.mirror", values.mirror);
  text("identity.tenant", values.tenant);
  text("namespace", values.site_namespace);
  text("policy.file", values.policy_file);
  const auto list = [&](std::string key, const auto& items, const auto& print) {
    std::string literal = "[";
    for (const auto& item : items) literal += (literal.size() > 1 ? ", " : "") + print(item);
    if (!items.empty()) out.emplace_back(std::move(key), literal + "]");
  };
  list("git.branches", values.branches, [](const std::string& branch) { return quoted(branch); });
  list("requesters.uids", values.requester_uids, [](std::uint32_t uid) { return std::to_string(uid); });
  if (values.user_mode) out.emplace_back("user_mode", "true");
  // What the caller set by key stands above everything.
  for (const auto& [key, literal] : values.set) {
    std::erase_if(out, [&](const auto& pair) { return pair.first == key; });
    out.emplace_back(key, literal);
  }
  return out;
}

}  // namespace

std::vector<std::string> setting_names() {
  std::vector<std::string> out;
  for (const Key<Settings>& key : settings_keys()) out.push_back(key.path);
  return out;
}

std::string as_literal(const std::string& text) {
  const auto parsed = read_document("x = " + text + "\n", "");
  return parsed && parsed->size() == 1 && parsed->front().key == "x" ? text : quoted(text);
}

base::Result<Settings> settings_of(model::JobKind kind, const InitValues& values) {
  auto known = given(values);
  const auto fill = [&](const std::string& key, const std::string& literal) {
    if (std::ranges::find(known, key, &std::pair<std::string, std::string>::first) == known.end())
      known.emplace_back(key, literal);
  };
  for (const Key<Settings>& key : settings_keys())
    if (key.required) fill(key.path, key.example);
  fill("receiver.ca_file", "\"/etc/intray/ca.pem\"");
  std::string text;
  for (const auto& [key, literal] : known) text.append(key).append(" = ").append(literal).append("\n");
  auto parsed = parse_settings(text, "", kind);
  if (parsed) return parsed;
  // Lines of a text that nobody sees say nothing.
  base::Error error = std::move(parsed).error();
  std::string what;
  for (std::string_view rest = error.what; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (const std::size_t at = line.find(": "); at != std::string_view::npos) line.remove_prefix(at + 2);
    what += (what.empty() ? "" : "\n") + std::string(line);
  }
  error.what = std::move(what);
  return std::unexpected(std::move(error));
}

std::string commented_settings(model::JobKind kind, const InitValues& values) {
  const std::string program = "intray-" + std::string(model::to_word(kind));
  Settings plain;
  plain.kind = kind;
  plain.agent = std::string(model::to_word(kind));
  const auto known = given(values);

  std::string out = fmt::format(
      "# Settings of {}; see {}.toml(5), and 'intray config check' for what holds.\n"
      "# Every setting is here. One behind a '#' has the value shown; take the '#' away to change it.\n",
      program, model::to_word(kind));
  std::string_view table;
  for (const Key<Settings>& key : settings_keys()) {
    const auto [in_table, name] = split(key.path);
    if (in_table != table)
      out += fmt::format("\n[{}]\n", in_table);
    else
      out += '\n';
    table = in_table;
    comment(out, key.doc);
    comment(out, as_sentence(key.allowed));
    const auto value = std::ranges::find(known, key.path, &std::pair<std::string, std::string>::first);
    if (value != known.end()) {
      out += fmt::format("{} = {}\n", name, value->second);
    } else if (key.required) {
      out += fmt::format("# REQUIRED, fill in:\n#{} = {}\n", name, key.example);
    } else {
      out += fmt::format("#{} = {}\n", name, key.print(plain));
    }
  }
  return out;
}

}  // namespace intray::config
