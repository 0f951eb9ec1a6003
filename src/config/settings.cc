#include "config/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/document.h"
#include "config/key_table.h"
#include "config/settings_file.h"
#include "config/settings_keys.h"
#include "sys/process.h"

namespace intray::config {
namespace {

Settings defaults(model::JobKind kind) {
  Settings out;
  out.kind = kind;
  out.agent = std::string(model::to_word(kind));
  return out;
}

}  // namespace

model::JobRules Settings::job_rules() const {
  return {.kind = kind,
          .object_format = source.object_format,
          .vault_root = vault_root,
          .extensions = extensions,
          .max_age = job_max_age};
}

base::Result<Settings> parse_settings(const std::string& toml_text, const std::string& file_name, model::JobKind kind) {
  Settings out = defaults(kind);
  std::vector<Problem> problems;
  const Seen seen = apply(settings_keys(), INTRAY_TRY(read_document(toml_text, file_name)), out, problems);
  // A value that was refused left its default behind; what it would have meant for others is not known.
  check_together(out, seen, problems);
  if (!problems.empty()) return base::fail(base::ErrorCode::kInvalid, join_problems(file_name, std::move(problems)));
  return out;
}

base::Result<Settings> load_settings(const std::string& path, model::JobKind kind) {
  const std::string text = INTRAY_TRY(read_settings_file(path));
  Settings out = INTRAY_TRY(parse_settings(text, path, kind));
  if (out.user_mode && out.requester_uids.empty()) out.requester_uids = {sys::effective_uid()};
  return out;
}

std::vector<EffectiveSetting> effective(const Settings& settings, const std::string& toml_text) {
  const Settings plain = defaults(settings.kind);
  std::vector<Entry> entries = read_document(toml_text, "").value_or(std::vector<Entry>{});
  std::vector<EffectiveSetting> out;
  for (const Key<Settings>& key : settings_keys()) {
    out.push_back({.key = key.path,
                   .value = key.print(settings),
                   .default_value = key.required ? std::string() : key.print(plain),
                   .from_file = std::ranges::find(entries, key.path, &Entry::key) != entries.end()});
  }
  return out;
}

}  // namespace intray::config
