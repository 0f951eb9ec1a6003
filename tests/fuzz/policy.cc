// The site's lease policy: default deny, and nothing that is not said.
#include <algorithm>
#include <string>

#include "config/document.h"
#include "config/settings.h"
#include "config/text_rules.h"
#include "config_error.h"
#include "target.h"

using namespace intray;

namespace {

std::string print(const config::LeasePolicy& policy) {
  std::string out;
  for (const config::PolicyLine& line : policy.lines) {
    out += "[[lease]]\ntenant = " + config::quoted(line.tenant) + "\nagent = " + config::quoted(line.agent) +
           "\nbinding = " + config::quoted(line.binding) + "\nscopes = [";
    for (const std::string& scope : line.scopes) out += config::quoted(scope) + ",";
    out += std::string("]\ntakeover = ") + (line.takeover ? "true" : "false") + "\n";
  }
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::text_of(data, size));
  const auto policy = config::parse_policy(text, fuzz::kFileName);
  if (!policy) {
    fuzz::check_config_error(policy.error());
    return 0;
  }
  for (const config::PolicyLine& line : policy->lines) {
    CHECK(config::is_name(line.tenant) && config::is_name(line.agent) && !line.binding.empty());
    CHECK(!line.scopes.empty() && std::ranges::is_sorted(line.scopes));
    for (const std::string& scope : line.scopes)
      CHECK(text.find(scope) != std::string::npos || text.find('\\') != std::string::npos);
  }
  const std::string printed = print(*policy);
  const auto again = config::parse_policy(printed, fuzz::kFileName);
  CHECK(again && print(*again) == printed);
  return 0;
}
