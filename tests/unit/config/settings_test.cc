#include "config/settings.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "config/settings_keys.h"

using namespace intray;
using namespace intray::config;
using model::JobKind;

namespace {

// Every required setting, one a line; tests replace or drop lines.
const std::map<std::string, std::string> kRequired = {
    {"namespace", "\"vault/acme/test/1\""},
    {"identity.tenant", "\"acme\""},
    {"requesters.uids", "[1001, 1002]"},
    {"receiver.url", "\"https://vault.example.org\""},
    {"receiver.credential_file", "\"/etc/intray/save.credential\""},
    {"receiver.ca_file", "\"/etc/intray/ca.pem\""},
    {"git.mirror", "\"/srv/vault.git\""},
    {"git.branches", "[\"main\"]"},
    {"source.max_age", "\"15m\""},
};

std::string text_of(std::map<std::string, std::string> values) {
  std::string out;
  for (const auto& [key, value] : values)
    if (!value.empty()) out += key + " = " + value + "\n";
  return out;
}

std::string with(const std::map<std::string, std::string>& changes) {
  std::map<std::string, std::string> values = kRequired;
  for (const auto& [key, value] : changes) values[key] = value;
  return text_of(values);
}

Settings good(const std::string& text) {
  auto parsed = parse_settings(text, "save.toml", JobKind::kSave);
  if (!parsed) FAIL(parsed.error().what);
  return *parsed;
}

std::string bad(const std::string& text) {
  const auto parsed = parse_settings(text, "save.toml", JobKind::kSave);
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code == base::ErrorCode::kInvalid);
  return parsed.error().what;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("parse_settings: with the required ones alone, every default holds") {
  const Settings s = good(with({}));
  CHECK(s.root == "/var/lib/intray");
  CHECK(s.agent == "save");
  CHECK(s.tenant == "acme");
  CHECK(s.requester_uids == std::vector<std::uint32_t>{1001, 1002});
  CHECK(s.policy_file == "/etc/intray/policy.toml");
  CHECK(s.vault_root == "/app/vault");
  CHECK(s.extensions == std::vector<std::string>{".md"});
  CHECK(s.job_max_age == base::Micros{24h * 7});
  CHECK(s.job_deadline == base::Micros{24h});
  CHECK(s.poison_solo_deaths == 2);
  CHECK(s.limits.slots == 1);
  CHECK(s.limits.in_flight == 64);
  CHECK(s.limits.waiting == 10'000);
  CHECK(s.limits.per_requester == 10'000);
  CHECK(s.limits.per_requester_bytes == 64 * 1024 * 1024);
  CHECK(s.limits.backlog == 1'000'000);
  CHECK(s.receiver.connect_timeout == base::Micros{5s});
  CHECK(s.receiver.total_timeout == base::Micros{30s});
  CHECK(s.receiver.low_speed_bytes == 1'024);
  CHECK(s.receiver.low_speed_window == base::Micros{10s});
  CHECK(s.receiver.settle == base::Micros{10s});
  CHECK(s.retry.attempts_max == 5);
  CHECK(s.retry.verify_deadline == base::Micros{30s});
  CHECK(s.retry.breaker_failures == 5);
  CHECK(s.timing.lease == base::Micros{15s});
  CHECK(s.timing.renewal == base::Micros{5s});
  CHECK(s.timing.grant == base::Micros{10s});
  CHECK(s.timing.scan_interval == base::Micros{60s});
  CHECK(s.timing.tmp_age == base::Micros{36h});
  CHECK(s.source.content_bytes_max == 4'194'304);
  CHECK(s.source.object_id_from == ObjectIdFrom::kPath);
  CHECK_FALSE(s.source.historical);
  CHECK_FALSE(s.user_mode);
  CHECK(s.source.max_age == base::Micros{15min});
}

TEST_CASE("parse_settings: every setting takes its own default and example, written out") {
  const Settings defaults = good(with({}));
  for (const Key<Settings>& key : settings_keys()) {
    INFO(key.path);
    const std::string literal = key.required ? key.example : key.print(defaults);
    const Settings again = good(with({{key.path, literal}}));
    if (!key.required)
      CHECK(key.print(again) == key.print(defaults));
    else
      CHECK(key.print(again) == literal);
  }
}

TEST_CASE("parse_settings: every setting refuses a value of another type") {
  for (const Key<Settings>& key : settings_keys()) {
    INFO(key.path);
    for (const std::string literal : {"1.5", "{}", "[{}]", "2026-01-01", "[[1]]"}) {
      const std::string what = bad(with({{key.path, literal}}));
      CHECK(contains(what, key.path));
    }
    const bool is_text = key.print(Settings{}).starts_with('"') || (key.required && key.example.starts_with('"'));
    CHECK(contains(bad(with({{key.path, is_text ? "true" : "\"true\""}})), key.path + ": found "));
  }
}

TEST_CASE("parse_settings: each required setting is missed by name, with an example") {
  for (const Key<Settings>& key : settings_keys()) {
    if (!key.required) continue;
    const std::string what = bad(with({{key.path, ""}}));
    CHECK(what == "save.toml: " + key.path + ": required and not set; for example: " + key.path + " = " + key.example);
  }
}

TEST_CASE("parse_settings: all problems at once, in the order of the file, each with its place") {
  const std::string what =
      bad("namespace = \"a/b/c/d\"\n"
          "slots = 0\n"
          "[receiver]\n"
          "  url = \"https://x/\"\n"
          "  conect_timeout = \"5s\"\n"
          "[lease]\n"
          "grant = 10\n");
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= what.size();) {
    const std::size_t end = std::min(what.find('\n', at), what.size());
    lines.push_back(what.substr(at, end - at));
    at = end + 1;
  }
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "save.toml:2:9: slots: found 0; allowed: a number, 1 to 64");
  CHECK(contains(lines[1], "save.toml:4:9: receiver.url: found \"https://x/\"; allowed: https://host"));
  CHECK(contains(lines[2],
                 "save.toml:5:20: receiver.conect_timeout: no such setting; did you mean receiver.connect_timeout?"));
  CHECK(contains(lines[3], "save.toml:7:9: lease.grant: found 10; allowed: a duration, \"500ms\" to \"30s\""));
  for (std::size_t i = 4; i < lines.size(); ++i) CHECK(contains(lines[i], "required and not set"));
}

TEST_CASE("parse_settings: unknown keys and tables") {
  CHECK(contains(bad(with({{"limits.in_flght", "3"}})), "did you mean limits.in_flight?"));
  CHECK(contains(bad(with({{"in_flight", "3"}})), "did you mean limits.in_flight?"));
  CHECK(contains(bad(with({{"zzzzzzzz", "3"}})), "save.toml(5) lists them all"));
  CHECK(contains(bad(with({}) + "[recever]\n"), "recever: no such setting"));
  CHECK(
      contains(bad(with({{"\"git.prefix\"", "\"x\""}})), "no such setting"));  // one key with a dot, not prefix of git
  CHECK(contains(bad(with({{"slots.x", "3"}})), "slots.x: no such setting"));
  CHECK(contains(bad("receiver = 3\n"), "receiver: found 3; allowed: a table ([receiver])"));
  CHECK(good(with({}) + "[lease]\n").tenant == "acme");
}

TEST_CASE("parse_settings: what is no TOML says where") {
  CHECK(contains(bad("a = \n"), "save.toml:1:"));
  CHECK(contains(bad("slots = 1\nslots = 2\n"), "save.toml:2:"));
  CHECK(contains(bad("\xff = 1\n"), "not TOML"));
}

TEST_CASE("parse_settings: text in messages is escaped") {
  CHECK(contains(bad(with({{"git.mirror", R"("\u001b[31mx")"}})), R"(found "\x1b[31mx")"));
  CHECK(contains(bad(with({{R"("\u001b]0;x")", "1"}})), "no such setting"));
  CHECK_FALSE(contains(bad(with({{R"("\u202ex")", "1"}})), "\u202e"));
}

TEST_CASE("parse_settings: bounds hold at both ends") {
  const auto takes = [](const std::string& key, const std::string& value) {
    return parse_settings(with({{key, value}}), "f", JobKind::kSave).has_value();
  };
  CHECK(takes("limits.in_flight", "1"));
  CHECK(takes("limits.in_flight", "1024"));
  CHECK_FALSE(takes("limits.in_flight", "0"));
  CHECK_FALSE(takes("limits.in_flight", "1025"));
  CHECK_FALSE(takes("limits.in_flight", "-1"));
  CHECK(takes("lease.time_to_live", "\"5m\""));
  CHECK_FALSE(takes("lease.time_to_live", "\"301s\""));
  CHECK_FALSE(takes("lease.grant", "\"31s\""));
  CHECK(takes("requesters.uids", "[0, 4294967294]"));
  CHECK_FALSE(takes("requesters.uids", "[4294967295]"));
  CHECK_FALSE(takes("requesters.uids", "[]"));
  CHECK_FALSE(takes("requesters.uids", "[\"1001\"]"));
  CHECK_FALSE(takes("git.branches", "[]"));
  CHECK_FALSE(takes("git.branches", "\"main\""));
  CHECK(takes("content.max_bytes", "4096"));
  CHECK(takes("content.max_bytes", "\"64MiB\""));
  CHECK_FALSE(takes("content.max_bytes", "\"65MiB\""));
  CHECK_FALSE(takes("content.max_bytes", "0"));
  CHECK_FALSE(takes("content.secret_patterns", "[\"\"]"));
  CHECK(takes("receiver.settle", "0"));
  CHECK_FALSE(takes("receiver.total_timeout", "0"));
  CHECK_FALSE(takes("object_id.from", "\"Path\""));
}

TEST_CASE("parse_settings: source.max_age may be the bare 0 and nothing that merely looks like it") {
  CHECK(good(with({{"source.max_age", "0"}})).source.max_age == base::Micros{0});
  for (const char* literal : {"\"0\"", "\"0s\"", "\"0d\"", "false", "1", "0.0"})
    CHECK(contains(bad(with({{"source.max_age", literal}})), "bare number 0"));
}

TEST_CASE("parse_settings: plain http needs to be allowed by name, https needs its authority") {
  const std::string refused = bad(with({{"receiver.url", "\"http://vault:8080\""}}));
  CHECK(contains(refused, "receiver.allow_plaintext = true"));
  const Settings s = good(with(
      {{"receiver.url", "\"http://vault:8080\""}, {"receiver.allow_plaintext", "true"}, {"receiver.ca_file", ""}}));
  CHECK(s.receiver.allow_plaintext);
  CHECK(contains(bad(with({{"receiver.ca_file", ""}})), "receiver.ca_file: required for an https receiver"));
  CHECK(contains(bad(with({{"receiver.ca_file", "\"\""}})), "receiver.ca_file: required for an https receiver"));
}

TEST_CASE("parse_settings: rules between settings name the place of the one to change") {
  CHECK(contains(bad(with({{"lease.renewal", "\"8s\""}})),
                 ": lease.renewal: more than half of lease.time_to_live (15s)"));
  CHECK(
      contains(bad(with({{"lease.time_to_live", "\"12s\""}, {"lease.grant", "\"13s\""}})), "lease.grant: longer than"));
  CHECK(contains(bad(with({{"receiver.connect_timeout", "\"31s\""}})), "receiver.connect_timeout: longer than"));
  CHECK(contains(bad(with({{"limits.waiting", "10"}})), "limits.in_flight: more than limits.waiting (10)"));
}

TEST_CASE("parse_settings: user mode needs no list of requesters") {
  CHECK(good(with({{"requesters.uids", ""}, {"user_mode", "true"}})).requester_uids.empty());
}

TEST_CASE("job_rules: what the settings add to the contract") {
  const Settings s =
      good(with({{"vault.root", "\"/v\""}, {"vault.extensions", "[\".md\", \".txt\"]"}, {"job.max_age", "\"1h\""}}));
  const model::JobRules rules = s.job_rules();
  CHECK(rules.vault_root == "/v");
  CHECK(rules.extensions.size() == 2);
  CHECK(rules.max_age == base::Micros{1h});
}

TEST_CASE("effective: every setting once, with its value, default and source") {
  const std::string text = with({{"limits.in_flight", "8"}});
  const std::vector<EffectiveSetting> lines = effective(good(text), text);
  CHECK(lines.size() == settings_keys().size());
  const auto line = std::ranges::find(lines, "limits.in_flight", &EffectiveSetting::key);
  REQUIRE(line != lines.end());
  CHECK(line->value == "8");
  CHECK(line->default_value == "64");
  CHECK(line->from_file);
  const auto other = std::ranges::find(lines, "limits.waiting", &EffectiveSetting::key);
  REQUIRE(other != lines.end());
  CHECK_FALSE(other->from_file);
  CHECK(std::ranges::find(lines, "git.mirror", &EffectiveSetting::key)->default_value.empty());
}

TEST_CASE("the key table: no key twice, every row documented") {
  std::vector<std::string> names = setting_names();
  CHECK(names.size() > 50);
  for (const Key<Settings>& key : settings_keys()) {
    INFO(key.path);
    CHECK(key.doc.ends_with('.'));
    CHECK_FALSE(key.allowed.empty());
    CHECK(key.required != key.example.empty());
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("load_settings: a file that others may write is refused") {
  const std::string dir = (std::filesystem::temp_directory_path() / "intray-config-XXXXXX").string();
  std::string name = dir;
  REQUIRE(mkdtemp(name.data()) != nullptr);
  const std::string path = name + "/save.toml";
  std::ofstream(path) << with({});
  using std::filesystem::perms;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write | perms::group_read);
  CHECK(load_settings(path, JobKind::kSave));
  std::filesystem::permissions(path, perms::group_write, std::filesystem::perm_options::add);
  const auto refused = load_settings(path, JobKind::kSave);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::kDenied);
  CHECK(load_settings(name + "/none.toml", JobKind::kSave).error().code == base::ErrorCode::kNotFound);
  std::filesystem::remove_all(name);
}
