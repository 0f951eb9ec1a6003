#include "cli/config_check.h"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/json_line.h"
#include "cli/site.h"
#include "cli/table.h"
#include "cli/text.h"
#include "limits.h"
#include "source/source.h"
#include "sys/dir.h"

namespace intray::cli {
namespace {

using base::ErrorCode;

// What is wrong beyond the file's own text.
std::vector<std::string> check_around(const config::Settings& settings) {
  std::vector<std::string> out;
  if (auto rules = source::ContentRules::compile(settings.source.secret_patterns); !rules)
    out.push_back("content.secret_patterns: " + rules.error().what);
  const auto policy = config::load_policy(settings.policy_file);
  if (!policy) {
    out.push_back(policy.error().code == ErrorCode::kNotFound
                      ? "policy.file: " + settings.policy_file + ": not there; with no policy every lease is refused"
                      : policy.error().what);
  } else {
    const std::string kind(model::to_word(settings.kind));
    for (int slot = 0; slot < settings.limits.slots; ++slot) {
      const std::string binding = kind + "/" + std::to_string(slot);
      const bool named = std::ranges::any_of(policy->lines, [&](const config::PolicyLine& line) {
        return line.tenant == settings.tenant && line.agent == settings.agent && line.binding == binding;
      });
      if (!named)
        out.push_back(settings.policy_file + ": no [[lease]] with tenant \"" + settings.tenant + "\", agent \"" +
                      settings.agent + "\", binding \"" + binding + "\"; the executor can't get that lease");
    }
  }
  std::error_code error;
  const std::filesystem::path mirror(settings.source.mirror);
  if (std::filesystem::exists(mirror / ".git", error))
    out.push_back("git.mirror: " + base::escape(settings.source.mirror) +
                  ": not a bare repository; make one with git clone --bare");
  else if (!std::filesystem::is_directory(mirror / "objects", error))
    out.push_back("git.mirror: " + base::escape(settings.source.mirror) + ": no git repository that can be reached");
  if (!settings.receiver.ca_file.empty() && !std::filesystem::is_regular_file(settings.receiver.ca_file, error))
    out.push_back("receiver.ca_file: " + base::escape(settings.receiver.ca_file) + ": not a file that can be reached");
  // Whoever asks may not be able to reach these; the credential of a service is there only while that runs.
  const auto check_kind = [&](const char* key, const std::string& file, bool must_exist) {
    const std::filesystem::file_type type = std::filesystem::status(file, error).type();
    if (type == std::filesystem::file_type::not_found ? must_exist
                                                      : type != std::filesystem::file_type::regular && !error)
      out.push_back(fmt::format("{}: {}: {}", key, base::escape(file), error ? "not there" : "not a regular file"));
  };
  check_kind("receiver.credential_file", settings.receiver.credential_file, false);
  if (!settings.missions_file.empty()) check_kind("missions.file", settings.missions_file, true);
  return out;
}

void print_settings(Console& console, const std::string& file, const std::vector<config::EffectiveSetting>& settings) {
  Table table(console, {{"SETTING"}, {"VALUE", Column::Fit::kCutEnd}, {"DEFAULT", Column::Fit::kCutEnd}, {"FROM"}});
  for (const config::EffectiveSetting& s : settings) {
    if (console.json) {
      print_json(console,
                 {{"type", "setting"},
                  {"file", file},
                  {"key", s.key},
                  {"value", s.value},
                  {"default", s.default_value.empty() ? nlohmann::json(nullptr) : nlohmann::json(s.default_value)},
                  {"from", s.from_file ? "file" : "default"}});
      continue;
    }
    const bool changed = s.from_file && s.value != s.default_value;
    table.add({{s.key},
               {base::escape(s.value), changed ? Colour::kBold : Colour::kNone},
               {s.default_value.empty() ? "(required)" : base::escape(s.default_value)},
               {s.from_file ? "file" : "default"}});
  }
  table.finish();
}

int check(Console& console, const std::string& file, model::JobKind kind) {
  const auto settings = config::load_settings(file, kind);
  if (!settings) {
    complain(console, settings.error());
    return settings.error().code == ErrorCode::kNotFound ? kUnreadable : kNo;
  }
  const auto text = sys::read_file(file, limits::kConfigFileBytesMax);
  print_settings(console, file, config::effective(*settings, text.value_or("")));
  const std::vector<std::string> problems = check_around(*settings);
  for (const std::string& problem : problems) complain(console, problem);
  if (!console.json)
    console.out << '\n'
                << file << ": "
                << (problems.empty() ? "everything holds"
                                     : count(static_cast<std::int64_t>(problems.size()), "problem"))
                << '\n';
  return problems.empty() ? kDone : kNo;
}

// By name: delete.toml is DELETE's, everything else SAVE's.
model::JobKind kind_of(const std::string& file) {
  return std::filesystem::path(file).filename().string().starts_with("delete") ? model::JobKind::kDelete
                                                                               : model::JobKind::kSave;
}

}  // namespace

int run_config_check(Console& console, const std::string& root, const std::string& file) {
  if (!file.empty()) return check(console, file, kind_of(file));
  const auto site = find_site(root);
  if (!site) {
    complain(console, site.error());
    return kNo;
  }
  int code = kDone;
  bool any = false;
  for (const model::JobKind kind : {model::JobKind::kSave, model::JobKind::kDelete}) {
    std::error_code error;
    if (!std::filesystem::exists(site->config_of(kind), error)) continue;
    any = true;
    code = std::max(code, check(console, site->config_of(kind), kind));
  }
  if (any) return code;
  complain(console, site->save_config + ": not there; 'intray init' writes it, or name a file");
  return kUnreadable;
}

}  // namespace intray::cli
