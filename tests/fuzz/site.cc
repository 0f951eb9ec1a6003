// The site's file, intray.toml.
#include <string>

#include "config/settings.h"
#include "config/text_rules.h"
#include "config_error.h"
#include "target.h"

using namespace intray;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto site = config::parse_site(std::string(fuzz::text_of(data, size)), fuzz::kFileName);
  if (!site) {
    fuzz::check_config_error(site.error());
    return 0;
  }
  for (const std::string& path : {site->root, site->save_config, site->delete_config})
    CHECK(config::is_absolute_path(path));
  const auto again = config::parse_site(config::site_text(*site), fuzz::kFileName);
  CHECK(again && again->root == site->root && again->save_config == site->save_config &&
        again->delete_config == site->delete_config);
  return 0;
}
