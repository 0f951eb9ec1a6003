#include "model/job.h"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limits.h"
#include "model/canonical.h"

namespace intray::model {
namespace {

using Json = nlohmann::json;

const std::string kJobId = "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d";
const std::string kOtherId = "11111111-2222-4333-8444-555555555555";

Json save_object() {
  return {{"job_version", 1},
          {"job_id", kJobId},
          {"mission_id", "6f1e2d3c-4b5a-4968-8776-655443322110"},
          {"job_type", "C5_SAVE_OBJECT"},
          {"object_id", "p-00112233445566778899aabbccddeeff"},
          {"vault_path", "/app/vault/Ordner/Übung.md"},
          {"source_commit", std::string(39, '0') + "1"},
          {"provenance_hash", std::string(64, 'a')},
          {"expected_state", "UNSET"},
          {"created_at", "2026-11-30T15:34:05.123456Z"},
          {"idempotency_key", "9a8b7c6d-5e4f-4a3b-ac1d-0e9f8a7b6c5d"}};
}

Json delete_object() {
  return {{"job_version", 1},
          {"job_id", kJobId},
          {"mission_id", "6f1e2d3c-4b5a-4968-8776-655443322110"},
          {"delete_request_id", "22222222-3333-4444-9555-666666666666"},
          {"job_type", "C5_DELETE_OBJECT"},
          {"object_id", "note:1"},
          {"vault_path", "/app/vault/a.md"},
          {"expected_commit", std::string(40, 'c')},
          {"expected_provenance_hash", std::string(64, 'b')},
          {"approval_id", "33333333-4444-4555-a666-777777777777"},
          {"created_at", "2026-11-30T15:34:05Z"},
          {"idempotency_key", "9a8b7c6d-5e4f-4a3b-ac1d-0e9f8a7b6c5d"}};
}

JobRules rules_of(JobKind kind) {
  JobRules rules;
  rules.kind = kind;
  return rules;
}

std::string verdict(const std::string& bytes, const JobRules& rules) {
  if (rules.kind == JobKind::kSave) {
    const auto job = parse_save_job(bytes, rules);
    return job ? "ok" : std::string(to_word(job.error().reason));
  }
  const auto job = parse_delete_job(bytes, rules);
  return job ? "ok" : std::string(to_word(job.error().reason));
}

using Change = std::function<void(Json&)>;
Change set(const std::string& name, Json value) {
  return [name, value = std::move(value)](Json& job) { job[name] = value; };
}
Change drop(const std::string& name) {
  return [name](Json& job) { job.erase(name); };
}
Change both(Change first, Change second) {
  return [first = std::move(first), second = std::move(second)](Json& job) { first(job), second(job); };
}

struct Case {
  std::string name;
  Change change;
  std::string reason;
};

void check_cases(const std::vector<Case>& cases, Json (*make)(), JobKind kind) {
  for (const Case& c : cases) {
    Json object = make();
    c.change(object);
    INFO(c.name << ": " << object.dump());
    CHECK(verdict(to_canonical(object), rules_of(kind)) == c.reason);
  }
}

const std::vector<Case>& invalid_saves() {
  static const std::vector<Case> cases = {
      {"version 2", set("job_version", 2), "UNKNOWN_VERSION"},
      {"version 0", set("job_version", 0), "UNKNOWN_VERSION"},
      {"version -1", set("job_version", -1), "UNKNOWN_VERSION"},
      {"version as string", set("job_version", "1"), "BAD_TYPE"},
      {"version true", set("job_version", true), "BAD_TYPE"},
      {"version null", set("job_version", nullptr), "BAD_TYPE"},
      {"version array", set("job_version", Json::array({1})), "BAD_TYPE"},
      {"no version", drop("job_version"), "MISSING_MEMBER"},
      {"type of the other executor", set("job_type", "C5_DELETE_OBJECT"), "UNKNOWN_JOB_TYPE"},
      {"type in lower case", set("job_type", "c5_save_object"), "UNKNOWN_JOB_TYPE"},
      {"type with trailing blank", set("job_type", "C5_SAVE_OBJECT "), "UNKNOWN_JOB_TYPE"},
      {"type in full-width letters", set("job_type", "Ｃ5_SAVE_OBJECT"), "UNKNOWN_JOB_TYPE"},
      {"type with a Cyrillic letter", set("job_type", "\u04215_SAVE_OBJECT"), "UNKNOWN_JOB_TYPE"},
      {"type empty", set("job_type", ""), "UNKNOWN_JOB_TYPE"},
      {"type number", set("job_type", 5), "BAD_TYPE"},
      {"type null", set("job_type", nullptr), "BAD_TYPE"},
      {"no type", drop("job_type"), "MISSING_MEMBER"},
      {"command member", set("command", "rm"), "UNKNOWN_MEMBER"},
      {"content member", set("content", "x"), "UNKNOWN_MEMBER"},
      {"member of the other contract", set("approval_id", kOtherId), "UNKNOWN_MEMBER"},
      {"member in other case", set("Job_id", kOtherId), "UNKNOWN_MEMBER"},
      {"empty member name", set("", "x"), "UNKNOWN_MEMBER"},
      {"misspelt member", both(drop("object_id"), set("objectid", "x")), "UNKNOWN_MEMBER"},
      {"no job_id", drop("job_id"), "MISSING_MEMBER"},
      {"no mission_id", drop("mission_id"), "MISSING_MEMBER"},
      {"no object_id", drop("object_id"), "MISSING_MEMBER"},
      {"no vault_path", drop("vault_path"), "MISSING_MEMBER"},
      {"no source_commit", drop("source_commit"), "MISSING_MEMBER"},
      {"no provenance_hash", drop("provenance_hash"), "MISSING_MEMBER"},
      {"no expected_state", drop("expected_state"), "MISSING_MEMBER"},
      {"no created_at", drop("created_at"), "MISSING_MEMBER"},
      {"no idempotency_key", drop("idempotency_key"), "MISSING_MEMBER"},
      {"job_id null", set("job_id", nullptr), "BAD_TYPE"},
      {"mission_id number", set("mission_id", 1), "BAD_TYPE"},
      {"object_id array", set("object_id", Json::array({"a"})), "BAD_TYPE"},
      {"object_id object", set("object_id", Json::object()), "BAD_TYPE"},
      {"vault_path false", set("vault_path", false), "BAD_TYPE"},
      {"source_commit number", set("source_commit", 1234567), "BAD_TYPE"},
      {"expected_state null", set("expected_state", nullptr), "BAD_TYPE"},
      {"created_at number", set("created_at", 1796044522), "BAD_TYPE"},
      {"job_id upper case", set("job_id", "0B0E5A1C-7D3F-4A2B-9C8D-1E2F3A4B5C6D"), "BAD_VALUE"},
      {"job_id version 1", set("job_id", "0b0e5a1c-7d3f-1a2b-9c8d-1e2f3a4b5c6d"), "BAD_VALUE"},
      {"job_id variant c", set("job_id", "0b0e5a1c-7d3f-4a2b-cc8d-1e2f3a4b5c6d"), "BAD_VALUE"},
      {"job_id nil", set("job_id", "00000000-0000-0000-0000-000000000000"), "BAD_VALUE"},
      {"job_id in braces", set("job_id", "{" + kJobId + "}"), "BAD_VALUE"},
      {"job_id without hyphens", set("job_id", "0b0e5a1c7d3f4a2b9c8d1e2f3a4b5c6d"), "BAD_VALUE"},
      {"job_id with newline", set("job_id", kJobId + "\n"), "BAD_VALUE"},
      {"mission_id empty", set("mission_id", ""), "BAD_VALUE"},
      {"idempotency_key short", set("idempotency_key", "9a8b7c6d"), "BAD_VALUE"},
      {"object_id empty", set("object_id", ""), "BAD_VALUE"},
      {"object_id 129 bytes", set("object_id", std::string(129, 'a')), "BAD_VALUE"},
      {"object_id starts with a dot", set("object_id", ".a"), "BAD_VALUE"},
      {"object_id with slash", set("object_id", "a/b"), "BAD_VALUE"},
      {"object_id with umlaut", set("object_id", "ü"), "BAD_VALUE"},
      {"object_id with blank", set("object_id", "a b"), "BAD_VALUE"},
      {"commit short", set("source_commit", "abcdef1"), "BAD_VALUE"},
      {"commit upper case", set("source_commit", std::string(40, 'A')), "BAD_VALUE"},
      {"commit all zero", set("source_commit", std::string(40, '0')), "BAD_VALUE"},
      {"commit of the other format", set("source_commit", std::string(64, 'a')), "BAD_VALUE"},
      {"commit is a ref", set("source_commit", "refs/heads/main"), "BAD_VALUE"},
      {"commit with g", set("source_commit", std::string(39, 'a') + "g"), "BAD_VALUE"},
      {"hash 63 digits", set("provenance_hash", std::string(63, 'a')), "BAD_VALUE"},
      {"hash 65 digits", set("provenance_hash", std::string(65, 'a')), "BAD_VALUE"},
      {"hash upper case", set("provenance_hash", std::string(64, 'A')), "BAD_VALUE"},
      {"hash with prefix", set("provenance_hash", "sha256:" + std::string(64, 'a')), "BAD_VALUE"},
      {"state empty", set("expected_state", ""), "BAD_VALUE"},
      {"state 65 bytes", set("expected_state", std::string(65, 's')), "BAD_VALUE"},
      {"state starts with blank", set("expected_state", " draft"), "BAD_VALUE"},
      {"state with dot", set("expected_state", "a.b"), "BAD_VALUE"},
      {"state with NBSP", set("expected_state", "a\u00a0b"), "BAD_VALUE"},
      {"time without Z", set("created_at", "2026-11-30T15:34:05"), "BAD_VALUE"},
      {"time with offset", set("created_at", "2026-11-30T15:34:05+00:00"), "BAD_VALUE"},
      {"time with lower-case z", set("created_at", "2026-11-30T15:34:05z"), "BAD_VALUE"},
      {"time with lower-case t", set("created_at", "2026-11-30t15:34:05Z"), "BAD_VALUE"},
      {"time with blank", set("created_at", "2026-11-30 15:34:05Z"), "BAD_VALUE"},
      {"time with 7 digits", set("created_at", "2026-11-30T15:34:05.1234567Z"), "BAD_VALUE"},
      {"time with an empty fraction", set("created_at", "2026-11-30T15:34:05.Z"), "BAD_VALUE"},
      {"31 April", set("created_at", "2026-04-31T00:00:00Z"), "BAD_VALUE"},
      {"29 February of no leap year", set("created_at", "2027-02-29T00:00:00Z"), "BAD_VALUE"},
      {"hour 24", set("created_at", "2026-11-30T24:00:00Z"), "BAD_VALUE"},
      {"leap second", set("created_at", "2026-12-31T23:59:60Z"), "BAD_VALUE"},
      {"path with ..", set("vault_path", "/app/vault/../etc/a.md"), "UNSAFE_PATH"},
      {"path elsewhere", set("vault_path", "/etc/passwd"), "UNSAFE_PATH"},
      {"path empty", set("vault_path", ""), "UNSAFE_PATH"},
      {"path with another extension", set("vault_path", "/app/vault/a.png"), "UNSAFE_PATH"},
      {"path in NFD", set("vault_path", "/app/vault/U\u0308.md"), "UNSAFE_PATH"}};
  return cases;
}

TEST_CASE("job: a SAVE that breaks one rule is refused with that rule's code") {
  CHECK(invalid_saves().size() >= 60);
  check_cases(invalid_saves(), save_object, JobKind::kSave);
}

TEST_CASE("job: SAVE jobs at the edge of the rules are accepted and written back byte for byte") {
  const std::vector<Case> cases = {
      {"plain", [](Json&) {}, "ok"},
      {"other key order does not matter once canonical", set("object_id", "A"), "ok"},
      {"object_id of 128 bytes", set("object_id", std::string(128, 'Z')), "ok"},
      {"object_id with all punctuation", set("object_id", "0._:-"), "ok"},
      {"state of one letter", set("expected_state", "x"), "ok"},
      {"state of 64 bytes", set("expected_state", "In review _-" + std::string(52, '9')), "ok"},
      {"state with trailing blank", set("expected_state", "draft "), "ok"},
      {"time without fraction", set("created_at", "2026-11-30T15:34:05Z"), "ok"},
      {"time with one digit", set("created_at", "2026-11-30T15:34:05.1Z"), "ok"},
      {"leap day", set("created_at", "2028-02-29T23:59:59.999999Z"), "ok"},
      {"year 1970", set("created_at", "1970-01-01T00:00:00Z"), "ok"},
      {"year 9999", set("created_at", "9999-12-31T23:59:59Z"), "ok"},
      {"hash of zeros", set("provenance_hash", std::string(64, '0')), "ok"},
      {"uuid variants", set("mission_id", "ffffffff-ffff-4fff-bfff-ffffffffffff"), "ok"},
      {"path with emoji and quotes", set("vault_path", "/app/vault/“x” 😀 ½ $….md"), "ok"},
      {"path of 1024 bytes",
       set("vault_path", "/app/vault/" + std::string(255, 'a') + "/" + std::string(255, 'b') + "/" +
                             std::string(255, 'c') + "/" + std::string(242, 'd') + ".md"),
       "ok"}};
  check_cases(cases, save_object, JobKind::kSave);
  for (const Case& c : cases) {
    Json object = save_object();
    c.change(object);
    const std::string bytes = to_canonical(object);
    const auto job = parse_save_job(bytes, JobRules{});
    REQUIRE(job);
    CHECK(to_canonical(*job) == bytes);
  }
}

TEST_CASE("job: every member of a SAVE arrives in its field") {
  const auto job = parse_save_job(to_canonical(save_object()), JobRules{});
  REQUIRE(job);
  CHECK(job->job_id.str() == kJobId);
  CHECK(job->mission_id.str() == "6f1e2d3c-4b5a-4968-8776-655443322110");
  CHECK(job->object_id == "p-00112233445566778899aabbccddeeff");
  CHECK(job->vault_path == "/app/vault/Ordner/Übung.md");
  CHECK(job->source_commit == std::string(39, '0') + "1");
  CHECK(job->provenance_hash.hex() == std::string(64, 'a'));
  CHECK(job->expected_state == "UNSET");
  CHECK(base::format_rfc3339(job->created_at) == "2026-11-30T15:34:05.123456Z");
  CHECK(job->idempotency_key.str() == "9a8b7c6d-5e4f-4a3b-ac1d-0e9f8a7b6c5d");
}

TEST_CASE("job: every member of a DELETE arrives in its field, and its own rules hold") {
  const std::string bytes = to_canonical(delete_object());
  const auto job = parse_delete_job(bytes, rules_of(JobKind::kDelete));
  REQUIRE(job);
  CHECK(job->delete_request_id.str() == "22222222-3333-4444-9555-666666666666");
  CHECK(job->approval_id.str() == "33333333-4444-4555-a666-777777777777");
  CHECK(job->expected_commit == std::string(40, 'c'));
  CHECK(job->expected_provenance_hash.hex() == std::string(64, 'b'));
  CHECK(job->object_id == "note:1");
  CHECK(job->vault_path == "/app/vault/a.md");
  CHECK(job->created_at_text == "2026-11-30T15:34:05Z");
  CHECK(to_canonical(*job) == bytes);
  const std::vector<Case> cases = {
      {"a SAVE", set("job_type", "C5_SAVE_OBJECT"), "UNKNOWN_JOB_TYPE"},
      {"no approval", drop("approval_id"), "MISSING_MEMBER"},
      {"no request id", drop("delete_request_id"), "MISSING_MEMBER"},
      {"no commit", drop("expected_commit"), "MISSING_MEMBER"},
      {"no provenance", drop("expected_provenance_hash"), "MISSING_MEMBER"},
      {"expected_state is no member", set("expected_state", "x"), "UNKNOWN_MEMBER"},
      {"force is no member", set("force", true), "UNKNOWN_MEMBER"},
      {"approval null", set("approval_id", nullptr), "BAD_TYPE"},
      {"approval nil", set("approval_id", "00000000-0000-4000-8000-00000000000"), "BAD_VALUE"},
      {"request id upper case", set("delete_request_id", "22222222-3333-4444-9555-66666666666A"), "BAD_VALUE"},
      {"commit all zero", set("expected_commit", std::string(40, '0')), "BAD_VALUE"},
      {"hash short", set("expected_provenance_hash", "b"), "BAD_VALUE"},
      {"path", set("vault_path", "/app/vault/.git/a.md"), "UNSAFE_PATH"}};
  check_cases(cases, delete_object, JobKind::kDelete);
}

TEST_CASE("job: bytes that are no canonical object are refused before any member is looked at") {
  const std::string good = to_canonical(save_object());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "EMPTY_FILE"},
      {std::string(limits::kJobFileBytesMax + 1, ' '), "OVERSIZED"},
      {std::string(limits::kJobFileBytesMax, ' '), "MALFORMED_JSON"},
      {good + "\n", "NOT_CANONICAL"},
      {" " + good, "NOT_CANONICAL"},
      {good + good, "MALFORMED_JSON"},
      {good.substr(0, good.size() - 1), "MALFORMED_JSON"},
      {"\xef\xbb\xbf" + good, "MALFORMED_JSON"},
      {save_object().dump(2), "NOT_CANONICAL"},
      {"[]", "BAD_TYPE"},
      {"\"x\"", "BAD_TYPE"},
      {"null", "BAD_TYPE"},
      {"{}", "MISSING_MEMBER"},
      {R"({"job_version":1,"job_version":1})", "NOT_CANONICAL"},
      {R"({"job_version":1.0})", "NOT_CANONICAL"}};
  for (const auto& [bytes, reason] : cases) {
    INFO(bytes.substr(0, 60));
    CHECK(verdict(bytes, rules_of(JobKind::kSave)) == reason);
  }
}

// The order of checks: whatever is wrong behind it, the first step that fails names the reason.
TEST_CASE("job: checks run in their fixed order") {
  Json job = save_object();
  job["vault_path"] = "/etc/a.md";
  const auto found = [&] { return verdict(to_canonical(job), rules_of(JobKind::kSave)); };
  CHECK(found() == "UNSAFE_PATH");
  job["idempotency_key"] = "x";
  CHECK(found() == "BAD_VALUE");
  job["object_id"] = 1;
  CHECK(found() == "BAD_TYPE");
  job.erase("created_at");
  CHECK(found() == "MISSING_MEMBER");
  job["extra"] = 1;
  CHECK(found() == "UNKNOWN_MEMBER");
  job["job_type"] = "X";
  CHECK(found() == "UNKNOWN_JOB_TYPE");
  job["job_version"] = 2;
  CHECK(found() == "UNKNOWN_VERSION");
  CHECK(verdict(to_canonical(job) + " ", rules_of(JobKind::kSave)) == "NOT_CANONICAL");
}

TEST_CASE("job: a refusal names the job only where its id can be trusted") {
  const auto refused = [](const std::string& bytes) { return parse_save_job(bytes, JobRules{}).error(); };
  Json job = save_object();
  job["vault_path"] = "/etc/a.md";
  const std::string bytes = to_canonical(job);
  REQUIRE(refused(bytes).job_id);
  CHECK(refused(bytes).job_id->str() == kJobId);
  CHECK(!refused(bytes + " ").job_id);
  job["job_version"] = 9;
  CHECK(refused(to_canonical(job)).job_id->str() == kJobId);
  job["job_id"] = "nonsense";
  CHECK(!refused(to_canonical(job)).job_id);
  job["job_id"] = 5;
  CHECK(!refused(to_canonical(job)).job_id);
}

TEST_CASE("job: a refusal names the member, the rule and a short escaped excerpt") {
  const auto detail = [](const std::string& name, const Json& value) {
    Json job = save_object();
    job[name] = value;
    return parse_save_job(to_canonical(job), JobRules{}).error().detail;
  };
  CHECK(detail("object_id", "a b") ==
        "object_id: 'a b' is not 1 to 128 of A-Z a-z 0-9 . _ : - with a letter or digit first");
  CHECK(detail("vault_path", "/app/vault/x/../a.md") == "vault_path: segment 2 is '..'");
  CHECK(detail("job_version", 3) == "job_version is 3, not 1");
  CHECK(detail("\x1b[2J", 3) == "unknown member '\\x1b[2J'");
  CHECK(detail("object_id", "\u202e" + std::string(5000, 'x')).size() < 200);
  CHECK(detail("object_id", "\u202eevil").find("\u202e") == std::string::npos);
  CHECK(detail("job_type", std::string(39, 'x') + "üü").find("xxx…'") != std::string::npos);  // never half a letter
}

TEST_CASE("job: a site's own rules decide on root, extensions and object format") {
  JobRules rules;
  rules.object_format = ObjectFormat::kSha256;
  Json job = save_object();
  CHECK(verdict(to_canonical(job), rules) == "BAD_VALUE");
  job["source_commit"] = std::string(64, 'a');
  CHECK(verdict(to_canonical(job), rules) == "ok");
  rules.vault_root = "/srv/notes";
  CHECK(verdict(to_canonical(job), rules) == "UNSAFE_PATH");
  job["vault_path"] = "/srv/notes/a.txt";
  CHECK(verdict(to_canonical(job), rules) == "UNSAFE_PATH");
  rules.extensions = {".md", ".txt"};
  CHECK(verdict(to_canonical(job), rules) == "ok");
}

TEST_CASE("job: age is judged to the microsecond, 5 minutes ahead and max_age back") {
  JobRules rules;
  rules.max_age = std::chrono::hours{1};
  const base::WallTime now = base::from_us(1'796'044'522'000'000);
  const auto word = [&](base::Micros offset) {
    const auto refused = check_age(now + offset, now, rules);
    return refused ? std::string(to_word(refused->reason)) : "ok";
  };
  CHECK(word(base::Micros{0}) == "ok");
  CHECK(word(std::chrono::minutes{5}) == "ok");
  CHECK(word(std::chrono::minutes{5} + base::Micros{1}) == "CREATED_IN_FUTURE");
  CHECK(word(-std::chrono::hours{1}) == "ok");
  CHECK(word(-std::chrono::hours{1} - base::Micros{1}) == "JOB_TOO_OLD");
  CHECK(check_age(*base::parse_rfc3339("9999-12-31T23:59:59Z"), now, rules)->reason == Reason::kCreatedInFuture);
  CHECK(check_age(base::from_us(0), now, rules)->reason == Reason::kJobTooOld);
}

void check_same_request(const Json& first) {
  const std::string bytes = to_canonical(first);
  CHECK(same_request(bytes, bytes));
  Json second = first;
  second["job_id"] = kOtherId;
  second["created_at"] = "2026-12-01T00:00:00Z";
  CHECK(same_request(bytes, to_canonical(second)));
  for (const auto& [name, value] : first.items()) {
    if (name == "job_id" || name == "created_at") continue;
    Json changed = second;
    changed[name] = value.is_number() ? Json(2) : Json(value.get<std::string>() + "x");
    INFO(name);
    CHECK(!same_request(bytes, to_canonical(changed)));
    CHECK(!same_request(to_canonical(changed), bytes));
  }
}

TEST_CASE("job: two jobs are one request where all but job_id and created_at is equal") {
  check_same_request(save_object());
  check_same_request(delete_object());
  CHECK(!same_request(to_canonical(save_object()), to_canonical(delete_object())));
  CHECK(!same_request("", ""));
  CHECK(!same_request("[]", "[]"));
}

TEST_CASE("job: field rules for tools") {
  CHECK(is_commit_id(std::string(40, 'f'), ObjectFormat::kSha1));
  CHECK(!is_commit_id(std::string(40, 'f'), ObjectFormat::kSha256));
  CHECK(is_commit_id(std::string(63, '0') + "1", ObjectFormat::kSha256));
  CHECK(!is_commit_id("", ObjectFormat::kSha1));
  CHECK(is_object_id("a"));
  CHECK(!is_object_id("a\n"));
  CHECK(!is_object_id(std::string("a\0", 2)));
  CHECK(is_state_word("In progress"));
  CHECK(!is_state_word("_x"));
}

}  // namespace
}  // namespace intray::model
