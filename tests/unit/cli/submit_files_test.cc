#include "cli/submit_files.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "model/canonical.h"

using namespace intray;
using namespace intray::cli;
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

ReadJob read(const std::string& text) {
  model::JobRules remove;
  remove.kind = JobKind::kDelete;
  return read_job(text, model::JobRules{}, remove, kNow);
}

}  // namespace

TEST_CASE("read_job: any JSON form of a job becomes its canonical bytes") {
  const std::string canonical = model::to_canonical(good_job());
  for (const int indent : {-1, 0, 4}) {
    const ReadJob job = read(good_job().dump(indent) + (indent < 0 ? "" : "\n"));
    REQUIRE(job.job);
    CHECK_FALSE(job.rejection);
    CHECK(job.job->bytes == canonical);
    CHECK(job.kind == JobKind::kSave);
    // From the job alone, so that a second submission meets the first one's name.
    CHECK(job.job->name.str() == "1796039940500000.0b0e5b1c-1111-4222-8333-444455556666.json");
  }
}

TEST_CASE("read_job: what is no strict JSON can't be handed over, even by force") {
  for (const char* text :
       {"", "{", "{} x", "{\"a\":1.0}", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", "{\"a\":\"\\ud800\"}"}) {
    INFO(text);
    const ReadJob job = read(text);
    CHECK_FALSE(job.job);
    CHECK(job.rejection);
  }
}

TEST_CASE("read_job: refused jobs keep their canonical bytes, for --force") {
  const auto reason_of = [](const nlohmann::json& object) {
    const ReadJob job = read(object.dump());
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

TEST_CASE("read_job: the job's type picks the inbox") {
  nlohmann::json job = good_job();
  job["job_type"] = "C5_DELETE_OBJECT";
  const ReadJob read_as = read(job.dump());
  CHECK(read_as.kind == JobKind::kDelete);
  CHECK(read_as.rejection);
  job["job_type"] = "SOMETHING";
  CHECK(read(job.dump()).kind == JobKind::kSave);
  CHECK(read(job.dump()).rejection->reason == Reason::kUnknownJobType);
}
