#include "client/job.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "model/canonical.h"

using namespace intray;
using namespace intray::client;
using model::JobKind;
using model::Reason;

namespace {

const base::WallTime kNow = *base::parse_rfc3339("2026-11-30T12:00:00Z");

nlohmann::json good_job() {
  return {{"job_version", 1},
          {"job_id", "0b0e5b1c-1111-4222-8333-444455556666"},
          {"mission_id", "1b0e5b1c-1111-4222-8333-444455556666"},
          {"job_type", "C5_SAVE_OBJECT"},
          {"object_id", "p-1"},
          {"vault_path", "/app/vault/notes/a.md"},
          {"source_commit", std::string(40, 'a')},
          {"provenance_hash", std::string(64, 'b')},
          {"expected_state", "UNSET"},
          {"created_at", "2026-11-30T11:59:00.5Z"},
          {"idempotency_key", "2b0e5b1c-1111-4222-8333-444455556666"}};
}

Reading read(const std::string& text) {
  model::JobRules remove;
  remove.kind = JobKind::kDelete;
  return read_text(text, model::JobRules{}, remove, kNow);
}

}  // namespace

TEST_CASE("read_text: any JSON form of a job becomes its canonical bytes") {
  const std::string canonical = model::to_canonical(good_job());
  for (const int indent : {-1, 0, 4}) {
    const Reading job = read(good_job().dump(indent) + (indent < 0 ? "" : "\n"));
    REQUIRE(job.job);
    CHECK_FALSE(job.rejection);
    CHECK(job.job->bytes == canonical);
    CHECK(job.job->kind == JobKind::kSave);
    // From the job alone, so that a second submission meets the first one's name.
    CHECK(job.job->name.str() == "1796039940500000.0b0e5b1c-1111-4222-8333-444455556666.json");
  }
}

TEST_CASE("read_text: what is no strict JSON can't be handed over, even by force") {
  for (const char* text :
       {"", "{", "{} x", "{\"a\":1.0}", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}"}) {
    INFO(text);
    const Reading job = read(text);
    CHECK_FALSE(job.job);
    CHECK(job.rejection);
  }
}

TEST_CASE("read_text: refused jobs keep their canonical bytes, for --force") {
  const auto reason_of = [](const nlohmann::json& object) {
    const Reading job = read(object.dump());
    REQUIRE(job.job);
    CHECK(job.job->bytes == model::to_canonical(object));
    REQUIRE(job.rejection);
    return job.rejection->reason;
  };
  nlohmann::json job = good_job();
  job["vault_path"] = "/etc/passwd";
  CHECK(reason_of(job) == Reason::kUnsafePath);
  job = good_job();
  job.erase("object_id");
  CHECK(reason_of(job) == Reason::kMissingMember);
  job = good_job();
  job["extra"] = 1;
  CHECK(reason_of(job) == Reason::kUnknownMember);
  job = good_job();
  job["job_id"] = "nobody";
  CHECK(reason_of(job) == Reason::kBadValue);
  job = good_job();
  job["created_at"] = "2026-11-30T12:06:00Z";
  CHECK(reason_of(job) == Reason::kCreatedInFuture);
  job["created_at"] = "2026-11-01T12:00:00Z";
  CHECK(reason_of(job) == Reason::kJobTooOld);
  CHECK(read("[]").rejection);
}

TEST_CASE("read_text: the job's type picks the inbox") {
  nlohmann::json job = good_job();
  job["job_type"] = "C5_DELETE_OBJECT";
  const Reading read_as = read(job.dump());
  CHECK(read_as.job->kind == JobKind::kDelete);
  CHECK(read_as.rejection);
  job["job_type"] = "SOMETHING";
  CHECK(read(job.dump()).job->kind == JobKind::kSave);
  CHECK(read(job.dump()).rejection->reason == Reason::kUnknownJobType);
}

namespace {

SaveFields save_fields() {
  return {.job_id = {},
          .mission_id = {},
          .object_id = "p-1",
          .vault_path = "/app/vault/Notizen/Fähre – „ab“.md",
          .source_commit = std::string(40, 'a'),
          .provenance_hash = std::string(64, 'b'),
          .expected_state = "UNSET",
          .created_at = {},
          .idempotency_key = {}};
}

DeleteFields delete_fields() {
  return {.job_id = {},
          .mission_id = "1b0e5b1c-1111-4222-8333-444455556666",
          .delete_request_id = "3b0e5b1c-1111-4222-8333-444455556666",
          .object_id = "p-1",
          .vault_path = "/app/vault/a.md",
          .expected_commit = std::string(40, 'a'),
          .expected_provenance_hash = std::string(64, 'b'),
          .approval_id = "4b0e5b1c-1111-4222-8333-444455556666",
          .created_at = {},
          .idempotency_key = {}};
}

model::JobRules rules_of(JobKind kind) {
  model::JobRules rules;
  rules.kind = kind;
  return rules;
}

Reason reason_of(const Checked& checked) {
  REQUIRE_FALSE(checked);
  CHECK_FALSE(checked.error().detail.empty());
  return checked.error().reason;
}

}  // namespace

TEST_CASE("make: the bytes are the contract's, ids are drawn, the time is now") {
  const auto save = make(save_fields(), rules_of(JobKind::kSave), kNow);
  REQUIRE(save);
  const auto parsed = model::parse_save_job(save->bytes, rules_of(JobKind::kSave));
  REQUIRE(parsed);
  CHECK(model::to_canonical(*parsed) == save->bytes);
  CHECK(parsed->created_at == kNow);
  CHECK(save->name == inbox::JobName{kNow, parsed->job_id});
  const auto other = make(save_fields(), rules_of(JobKind::kSave), kNow);
  REQUIRE(other);
  const auto second = model::parse_save_job(other->bytes, rules_of(JobKind::kSave));
  CHECK(second->job_id != parsed->job_id);
  CHECK(second->mission_id != parsed->mission_id);
  CHECK(second->idempotency_key != parsed->idempotency_key);

  const auto remove = make(delete_fields(), rules_of(JobKind::kDelete), kNow);
  REQUIRE(remove);
  CHECK(remove->kind == JobKind::kDelete);
  const auto parsed_delete = model::parse_delete_job(remove->bytes, rules_of(JobKind::kDelete));
  REQUIRE(parsed_delete);
  CHECK(model::to_canonical(*parsed_delete) == remove->bytes);
}

TEST_CASE("make: what is given is used, byte for byte") {
  SaveFields fields = save_fields();
  fields.job_id = "0b0e5b1c-1111-4222-8333-444455556666";
  fields.mission_id = "1b0e5b1c-1111-4222-8333-444455556666";
  fields.idempotency_key = "2b0e5b1c-1111-4222-8333-444455556666";
  fields.created_at = "2026-11-30T11:59:00.5Z";
  const auto job = make(fields, rules_of(JobKind::kSave), kNow);
  REQUIRE(job);
  CHECK(job->name.str() == "1796039940500000.0b0e5b1c-1111-4222-8333-444455556666.json");
  for (const auto& given : {fields.job_id, fields.mission_id, fields.idempotency_key, fields.created_at})
    CHECK(job->bytes.contains("\"" + *given + "\""));
}

TEST_CASE("make: each field is judged with the executor's reasons") {
  const auto with = [](auto change) {
    SaveFields fields = save_fields();
    change(fields);
    return reason_of(make(fields, rules_of(JobKind::kSave), kNow));
  };
  CHECK(with([](SaveFields& f) { f.job_id = "x"; }) == Reason::kBadValue);
  CHECK(with([](SaveFields& f) { f.object_id = ""; }) == Reason::kBadValue);
  CHECK(with([](SaveFields& f) { f.object_id = "\xff"; }) == Reason::kBadValue);
  CHECK(with([](SaveFields& f) { f.object_id = std::string("a\0b", 3); }) == Reason::kBadValue);
  CHECK(with([](SaveFields& f) { f.source_commit = std::string(64, 'a'); }) == Reason::kBadValue);
  CHECK(with([](SaveFields& f) { f.vault_path = "/app/vault/../a.md"; }) == Reason::kUnsafePath);
  CHECK(with([](SaveFields& f) { f.vault_path = "/app/vault/" + std::string(20'000, 'a'); }) == Reason::kOversized);
  CHECK(with([](SaveFields& f) { f.created_at = "2026-11-30T12:06:00Z"; }) == Reason::kCreatedInFuture);
  CHECK(with([](SaveFields& f) { f.created_at = "2026-11-23T11:59:59Z"; }) == Reason::kJobTooOld);
  DeleteFields fields = delete_fields();
  fields.approval_id = "";
  CHECK(reason_of(make(fields, rules_of(JobKind::kDelete), kNow)) == Reason::kBadValue);
}

TEST_CASE("check: finished bytes, canonical or not at all") {
  const auto job = make(save_fields(), rules_of(JobKind::kSave), kNow);
  REQUIRE(job);
  const auto again = check(job->bytes, rules_of(JobKind::kSave), kNow);
  REQUIRE(again);
  CHECK(again->bytes == job->bytes);
  CHECK(again->name == job->name);
  CHECK(reason_of(check(job->bytes + "\n", rules_of(JobKind::kSave), kNow)) == Reason::kNotCanonical);
  CHECK(reason_of(check(job->bytes + "}", rules_of(JobKind::kSave), kNow)) == Reason::kMalformedJson);
  CHECK(reason_of(check(" " + job->bytes, rules_of(JobKind::kSave), kNow)) == Reason::kNotCanonical);
  CHECK(reason_of(check(job->bytes, rules_of(JobKind::kDelete), kNow)) == Reason::kUnknownJobType);
  CHECK(reason_of(check("", rules_of(JobKind::kSave), kNow)) == Reason::kEmptyFile);
  const auto late = check(job->bytes, rules_of(JobKind::kSave), kNow + std::chrono::hours{169});
  CHECK(reason_of(late) == Reason::kJobTooOld);
  CHECK(late.error().job_id == job->name.job_id);
}
