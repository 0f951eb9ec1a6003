#include "config/document.h"
#include "config/key_builders.h"
#include "config/key_table.h"
#include "config/settings.h"
#include "config/settings_file.h"
#include "config/text_rules.h"

namespace intray::config {
namespace {

std::vector<Key<SiteSettings>> site_keys() {
  using S = SiteSettings;
  const std::string rule = "an absolute path";
  return {
      text_key<S>(
          "root", [](auto& s) -> auto& { return s.root; }, is_absolute_path, rule, "The site's data directory."),
      text_key<S>(
          "save.config", [](auto& s) -> auto& { return s.save_config; }, is_absolute_path, rule,
          "The settings of intray-save."),
      text_key<S>(
          "delete.config", [](auto& s) -> auto& { return s.delete_config; }, is_absolute_path, rule,
          "The settings of intray-delete."),
  };
}

}  // namespace

base::Result<SiteSettings> parse_site(const std::string& toml_text, const std::string& file_name) {
  SiteSettings out;
  std::vector<Problem> problems;
  apply(site_keys(), INTRAY_TRY(read_document(toml_text, file_name)), out, problems);
  if (!problems.empty()) return base::fail(base::ErrorCode::kInvalid, join_problems(file_name, std::move(problems)));
  return out;
}

base::Result<SiteSettings> load_site(const std::string& path) {
  const std::string text = INTRAY_TRY(read_settings_file(path));
  return parse_site(text, path);
}

std::string site_text(const SiteSettings& site) {
  std::string out = "# Where this site's data and its executors' settings are.\n";
  const std::vector<Key<SiteSettings>> keys = site_keys();
  for (const Key<SiteSettings>& key : keys) out += "\n# " + key.doc + "\n" + key.path + " = " + key.print(site) + "\n";
  return out;
}

}  // namespace intray::config
