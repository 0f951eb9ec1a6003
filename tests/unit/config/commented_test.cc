#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "config/settings.h"
#include "config/settings_keys.h"

using namespace intray;
using namespace intray::config;
using model::JobKind;

namespace {

InitValues complete() {
  InitValues v;
  v.root = "/srv/in tray";
  v.receiver_url = "https://vault.example.org";
  v.credential_file = "/srv/credential";
  v.ca_file = "/srv/ca.pem";
  v.mirror = "/srv/vault.git";
  v.branches = {"main", "feature/\"x"};
  v.tenant = "acme";
  v.site_namespace = "vault/acme/test/1";
  v.policy_file = "/srv/policy.toml";
  v.requester_uids = {1001};
  v.set = {{"source.max_age", "0"}};
  return v;
}

}  // namespace

TEST_CASE("commented_settings: with everything given it parses and says just that") {
  InitValues values = complete();
  values.branches = {"main"};
  const auto parsed = parse_settings(commented_settings(JobKind::kSave, values), "save.toml", JobKind::kSave);
  if (!parsed) FAIL(parsed.error().what);
  CHECK(parsed->root == "/srv/in tray");
  CHECK(parsed->source.mirror == "/srv/vault.git");
  CHECK(parsed->source.max_age == base::Micros{0});
  CHECK(parsed->requester_uids == std::vector<std::uint32_t>{1001});
  CHECK_FALSE(parsed->user_mode);
}

TEST_CASE("commented_settings: with nothing given, exactly the required settings are missing") {
  const std::string text = commented_settings(JobKind::kSave, {});
  const auto parsed = parse_settings(text, "save.toml", JobKind::kSave);
  REQUIRE_FALSE(parsed);
  const auto required = std::ranges::count_if(settings_keys(), &Key<Settings>::required);
  CHECK(std::ranges::count(parsed.error().what, '\n') + 1 == required);
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = text.find("# REQUIRED", at)) != std::string::npos; ++at) ++marks;
  CHECK(marks == static_cast<std::size_t>(required));
}

TEST_CASE("commented_settings: every comment sign before a value may be taken away") {
  std::istringstream in(commented_settings(JobKind::kSave, complete()));
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const bool value = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    text += (value ? line.substr(1) : line) + "\n";
  }
  const auto parsed = parse_settings(text, "save.toml", JobKind::kSave);
  if (!parsed) FAIL(parsed.error().what);
  CHECK(parsed->source.branches == std::vector<std::string>{"main", "feature/\"x"});  // quoted, not pasted
  CHECK(effective(*parsed, text).size() ==
        static_cast<std::size_t>(std::ranges::count_if(effective(*parsed, text), &EffectiveSetting::from_file)));
}

TEST_CASE("commented_settings: a value set by key stands above the others") {
  InitValues values = complete();
  values.branches = {"main"};
  values.set.emplace_back("git.branches", "[\"other\"]");
  values.set.emplace_back("vault.root", "\"/v\"");
  const auto parsed = parse_settings(commented_settings(JobKind::kSave, values), "save.toml", JobKind::kSave);
  REQUIRE(parsed);
  CHECK(parsed->source.branches == std::vector<std::string>{"other"});
  CHECK(parsed->vault_root == "/v");
}
