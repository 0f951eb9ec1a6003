#include <catch2/catch.hpp>

#include "config/settings.h"

using namespace intray;
using namespace intray::config;

namespace {

std::string refusal(const std::string& text) {
  const auto parsed = parse_policy(text, "policy.toml");
  REQUIRE_FALSE(parsed);
  return parsed.error().what;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kLine =
    "[[lease]]\ntenant = \"acme\"\nagent = \"save\"\nbinding = \"save/0\"\nscopes = [\"observe\", \"claim\", "
    "\"claim\"]\n";

}  // namespace

TEST_CASE("parse_policy: the written policy names just this site's slots and scopes") {
  const auto parsed = parse_policy(policy_text("acme", "save", model::JobKind::kSave, 2), "policy.toml");
  REQUIRE(parsed);
  REQUIRE(parsed->lines.size() == 2);
  CHECK(parsed->lines[0].tenant == "acme");
  CHECK(parsed->lines[0].binding == "save/0");
  CHECK(parsed->lines[1].binding == "save/1");
  CHECK(parsed->lines[1].scopes == std::vector<std::string>{"claim", "effect:save", "observe"});
  CHECK(parsed->lines[1].takeover);
}

TEST_CASE("parse_policy: an empty policy allows nothing and is no error") {
  const auto parsed = parse_policy("", "policy.toml");
  REQUIRE(parsed);
  CHECK(parsed->lines.empty());
}

TEST_CASE("parse_policy: scopes are a set; a takeover is never implied") {
  const auto parsed = parse_policy(kLine, "policy.toml");
  REQUIRE(parsed);
  CHECK(parsed->lines[0].scopes == std::vector<std::string>{"claim", "observe"});
  CHECK_FALSE(parsed->lines[0].takeover);
}

TEST_CASE("parse_policy: every slip is an error with its place") {
  CHECK(contains(refusal("[lease]\ntenant = \"acme\"\n"), "policy.toml:2:10: lease.tenant: no such setting"));
  CHECK(contains(refusal(kLine + "takover = true\n"), "did you mean takeover?"));
  CHECK(contains(refusal(kLine + "takeover = \"yes\"\n"), "takeover: found \"yes\"; allowed: true or false"));
  CHECK(contains(refusal("[[lease]]\ntenant = \"acme\"\n"), "scopes: required in each [[lease]]"));
  CHECK(contains(refusal(kLine + "[[lease]]\n"), "tenant: required in each [[lease]]"));
  CHECK(contains(refusal("lease = 1\n"), "lease: no such setting"));
  const std::string head = "[[lease]]\ntenant = \"a\"\nagent = \"b\"\n";
  for (const char* binding : {"save", "save/", "save/x", "save/00", "other/0", "save/100", "save/-1"})
    CHECK(contains(refusal(head + "scopes = [\"claim\"]\nbinding = \"" + binding + "\"\n"), "binding: found"));
  for (const char* scopes : {"[]", "[\"effect\"]", "[\"Claim\"]", "\"claim\"", "[1]"})
    CHECK(contains(refusal(head + "binding = \"save/0\"\nscopes = " + scopes + "\n"), "scopes: found"));
}

TEST_CASE("parse_site: defaults, own values, unknown keys") {
  const auto plain = parse_site("", "intray.toml");
  REQUIRE(plain);
  CHECK(plain->root == "/var/lib/intray");
  CHECK(plain->save_config == "/etc/intray/save.toml");
  SiteSettings site;
  site.root = "/srv/intray";
  site.save_config = "/srv/intray/etc/save.toml";
  const auto again = parse_site(site_text(site), "intray.toml");
  REQUIRE(again);
  CHECK(again->root == site.root);
  CHECK(again->save_config == site.save_config);
  CHECK(again->delete_config == site.delete_config);
  CHECK_FALSE(parse_site("root = \"relative\"\n", "intray.toml"));
  const auto unknown = parse_site("save.confg = \"/x\"\n", "intray.toml");
  REQUIRE_FALSE(unknown);
  CHECK(contains(unknown.error().what, "did you mean save.config?"));
}
