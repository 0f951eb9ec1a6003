#include <sys/stat.h>

#include <intray/intray.h>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <new>

#include "../inbox/inbox_fixture.h"
#include "model/receipt.h"

using namespace intray;
using test::InboxFixture;

namespace {

// Handles that go with the test.
struct Free {
  void operator()(intray_error* p) const { intray_error_free(p); }
  void operator()(intray_job* p) const { intray_job_free(p); }
  void operator()(intray_inbox* p) const { intray_inbox_free(p); }
  void operator()(intray_waiter* p) const { intray_waiter_free(p); }
  void operator()(intray_receipt* p) const { intray_receipt_free(p); }
};
using Error = std::unique_ptr<intray_error, Free>;
using Job = std::unique_ptr<intray_job, Free>;
using Inbox = std::unique_ptr<intray_inbox, Free>;
using Waiter = std::unique_ptr<intray_waiter, Free>;
using Receipt = std::unique_ptr<intray_receipt, Free>;

template <class Struct>
Struct sized() {
  Struct out{};
  out.struct_size = sizeof out;
  return out;
}

const std::string kCommit(40, 'a');
const std::string kHash(64, 'b');

intray_save_fields fields() {
  auto out = sized<intray_save_fields>();
  out.object_id = "p-1";
  out.vault_path = "/app/vault/a.md";
  out.source_commit = kCommit.c_str();
  out.provenance_hash = kHash.c_str();
  out.expected_state = "UNSET";
  return out;
}

Job make() {
  const auto given = fields();
  intray_job* job = nullptr;
  REQUIRE(intray_job_make_save(&given, nullptr, &job, nullptr) == INTRAY_OK);
  return Job(job);
}

Inbox open(const InboxFixture& fixture) {
  intray_inbox* inbox = nullptr;
  REQUIRE(intray_inbox_open(fixture.temp.path().c_str(), INTRAY_SAVE, &inbox, nullptr) == INTRAY_OK);
  return Inbox(inbox);
}

struct Outcome {
  int code;
  Error error;
};
Outcome submit(intray_inbox* inbox, const intray_job* job) {
  intray_error* error = nullptr;
  const int code = intray_submit(inbox, job, &error);
  return {code, Error(error)};
}

void answer(const InboxFixture& fixture, const intray_job* job, model::State state, std::int64_t seq) {
  model::Receipt r;
  r.job_id = base::JobId::parse(intray_job_id(job));
  r.job_sha256 = base::Sha256::parse(intray_job_sha256(job));
  r.state = state;
  r.result = model::ResultWord::kUnknown;
  r.reason = model::Reason::kResponseLost;
  r.audit_seq = {seq};
  r.epoch = {1};
  r.worker_id = base::WorkerId::generate();
  r.finished_at = base::from_us(5);
  std::ofstream(fixture.path("receipts/" + base::format_rfc3339(base::SystemClock().wall()).substr(0, 10) + ".jsonl"),
                std::ios::app)
      << model::to_line(r) << "\n";
}

#ifndef __SANITIZE_ADDRESS__  // which keeps an account of its own of what is allocated how
#define INTRAY_ALLOCATIONS_CAN_FAIL 1
// Counts down to an allocation of this thread that fails: it alone, or all those after it too.
thread_local int allocations_left = -1;
thread_local bool for_good = false;
#endif

}  // namespace

#ifdef INTRAY_ALLOCATIONS_CAN_FAIL
// GCC takes what malloc gives for another family than what it is freed by here.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  if (allocations_left == 0 && for_good) throw std::bad_alloc();
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  if (void* const p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

TEST_CASE("abi: a job is made, read back and parsed again") {
  const Job job = make();
  std::size_t size = 0;
  const char* const bytes = intray_job_bytes(job.get(), &size);
  CHECK(std::strlen(bytes) == size);
  CHECK(intray_job_kind(job.get()) == INTRAY_SAVE);
  CHECK(std::string(intray_job_id(job.get())) == intray_job_member(job.get(), "job_id"));
  CHECK(base::sha256(std::string_view(bytes, size)).hex() == intray_job_sha256(job.get()));
  CHECK(std::string(intray_job_file_name(job.get())).ends_with("." + std::string(intray_job_id(job.get())) + ".json"));
  CHECK(intray_job_member(job.get(), "object_id") == std::string("p-1"));
  for (const char* const name : {"job_version", "nothing", ""}) CHECK(intray_job_member(job.get(), name) == nullptr);

  intray_job* parsed = nullptr;
  REQUIRE(intray_job_parse(INTRAY_SAVE, bytes, size, nullptr, &parsed, nullptr) == INTRAY_OK);
  CHECK(std::string(intray_job_file_name(Job(parsed).get())) == intray_job_file_name(job.get()));
  CHECK(intray_job_parse(INTRAY_SAVE, bytes, size, nullptr, nullptr, nullptr) == INTRAY_OK);
  intray_error* error = nullptr;
  CHECK(intray_job_parse(INTRAY_DELETE, bytes, size, nullptr, nullptr, &error) == INTRAY_REFUSED);
  CHECK(std::string("UNKNOWN_JOB_TYPE") == intray_error_reason(Error(error).get()));
  CHECK(intray_job_parse(INTRAY_SAVE, nullptr, 0, nullptr, nullptr, &error) == INTRAY_REFUSED);
  CHECK(std::string("EMPTY_FILE") == intray_error_reason(Error(error).get()));

  const std::string pretty = " " + std::string(bytes, size) + "\n";
  CHECK(intray_job_parse(INTRAY_SAVE, pretty.data(), pretty.size(), nullptr, nullptr, nullptr) == INTRAY_REFUSED);
  REQUIRE(intray_job_canonicalize(pretty.data(), pretty.size(), nullptr, &parsed, nullptr) == INTRAY_OK);
  CHECK(std::string(intray_job_bytes(Job(parsed).get(), nullptr)) == bytes);
}

TEST_CASE("abi: rules are the site's, the clock among them") {
  const Job job = make();
  std::size_t size = 0;
  const char* const bytes = intray_job_bytes(job.get(), &size);
  const auto reason = [&](const intray_rules& rules) -> std::string {
    intray_error* error = nullptr;
    const int code = intray_job_parse(INTRAY_SAVE, bytes, size, &rules, nullptr, &error);
    const Error owned(error);
    if (code == INTRAY_OK) return "OK";
    return code == INTRAY_REFUSED ? intray_error_reason(error) : std::to_string(code);
  };
  auto rules = sized<intray_rules>();
  CHECK(reason(rules) == "OK");
  rules.vault_root = "/elsewhere";
  CHECK(reason(rules) == "UNSAFE_PATH");
  rules = sized<intray_rules>();
  const char* const extensions[] = {".txt", ".md"};
  rules.extensions = extensions;
  rules.extension_count = 1;
  CHECK(reason(rules) == "UNSAFE_PATH");
  rules.extension_count = 2;
  CHECK(reason(rules) == "OK");
  rules.object_format = INTRAY_SHA256;
  CHECK(reason(rules) == "BAD_VALUE");
  rules = sized<intray_rules>();
  rules.now_us = base::to_us(base::SystemClock().wall()) - 400'000'000;
  CHECK(reason(rules) == "CREATED_IN_FUTURE");
  rules.now_us += 1000'000'000;
  CHECK(reason(rules) == "OK");
  rules.max_age_us = 1'000'000;
  CHECK(reason(rules) == "JOB_TOO_OLD");

  const std::string wrong = std::to_string(INTRAY_INVALID_ARGUMENT);
  rules = sized<intray_rules>();
  for (const char* const root : {"", "app/vault", "/app/vault/", "/"}) {
    rules.vault_root = root;
    CHECK(reason(rules) == wrong);
  }
  rules = sized<intray_rules>();
  rules.extension_count = 1;
  CHECK(reason(rules) == wrong);
  rules = sized<intray_rules>();
  rules.object_format = 2;
  CHECK(reason(rules) == wrong);
}

TEST_CASE("abi: structs of a later library are taken where they say nothing that is new") {
  struct Later {
    intray_rules known;
    std::int64_t added;
  } later{};
  later.known.struct_size = sizeof later;
  const Job job = make();
  std::size_t size = 0;
  const char* const bytes = intray_job_bytes(job.get(), &size);
  CHECK(intray_job_parse(INTRAY_SAVE, bytes, size, &later.known, nullptr, nullptr) == INTRAY_OK);
  later.added = 1;
  CHECK(intray_job_parse(INTRAY_SAVE, bytes, size, &later.known, nullptr, nullptr) == INTRAY_INVALID_ARGUMENT);
  for (const std::size_t wrong : {std::size_t{0}, sizeof(intray_rules) - 1, std::size_t{1} << 40}) {
    later.known.struct_size = wrong;
    CHECK(intray_job_parse(INTRAY_SAVE, bytes, size, &later.known, nullptr, nullptr) == INTRAY_INVALID_ARGUMENT);
  }
}

TEST_CASE("abi: what must not be NULL is said, and handles are NULL after a failure") {
  auto* const sentinel = reinterpret_cast<intray_job*>(8);
  intray_job* job = sentinel;
  intray_error* error = nullptr;
  CHECK(intray_job_make_save(nullptr, nullptr, &job, &error) == INTRAY_INVALID_ARGUMENT);
  CHECK(job == nullptr);
  CHECK(intray_error_code(error) == INTRAY_INVALID_ARGUMENT);
  CHECK(intray_error_reason(error) == nullptr);
  CHECK(std::strlen(intray_error_message(error)) > 0);
  intray_error_free(error);
  auto some = fields();
  some.vault_path = nullptr;
  CHECK(intray_job_make_save(&some, nullptr, &job, nullptr) == INTRAY_INVALID_ARGUMENT);
  CHECK(intray_job_make_save(&some, nullptr, nullptr, nullptr) == INTRAY_INVALID_ARGUMENT);
  CHECK(intray_job_parse(3, "{}", 2, nullptr, nullptr, nullptr) == INTRAY_INVALID_ARGUMENT);
  intray_inbox* inbox = nullptr;
  CHECK(intray_inbox_open(nullptr, INTRAY_SAVE, &inbox, nullptr) == INTRAY_INVALID_ARGUMENT);
  CHECK(intray_inbox_open("/nonexistent", INTRAY_SAVE, &inbox, nullptr) == INTRAY_NOT_FOUND);
  CHECK(inbox == nullptr);
  CHECK(intray_submit(nullptr, nullptr, nullptr) == INTRAY_INVALID_ARGUMENT);
  intray_receipt* receipt = nullptr;
  CHECK(intray_wait(nullptr, nullptr, 0, &receipt, nullptr) == INTRAY_INVALID_ARGUMENT);
  intray_error_free(nullptr);
  intray_job_free(nullptr);
  intray_inbox_free(nullptr);
  intray_waiter_free(nullptr);
  intray_receipt_free(nullptr);
}

TEST_CASE("abi: the member that was left out is named") {
  intray_save_fields fields{};
  fields.struct_size = sizeof fields;
  fields.object_id = "note-1";
  intray_job* job = nullptr;
  intray_error* error = nullptr;
  CHECK(intray_job_make_save(&fields, nullptr, &job, &error) == INTRAY_INVALID_ARGUMENT);
  CHECK(intray_error_message(error) == std::string("vault_path is NULL and must be given"));
  intray_error_free(error);
}

TEST_CASE("abi: provenance is the executor's") {
  char out[65];
  REQUIRE(intray_provenance_hash(kCommit.c_str(), "text", 4, "p-1", "a.md", "UNSET", out, nullptr) == INTRAY_OK);
  CHECK(std::string(out) == "daadc21647eb9e549b832a2f686cd160eb04a168b41d2ecb2a9579fec2c44092");
  CHECK(intray_provenance_hash(kCommit.c_str(), nullptr, 0, "\xff", "a.md", "UNSET", out, nullptr) == INTRAY_REFUSED);
}

TEST_CASE("abi: accepted, already handed over, and a name that is taken are told apart") {
  const InboxFixture fixture;
  const test::WithoutSyncs fast;
  const Inbox inbox = open(fixture);
  const Job job = make();
  const std::string path = fixture.path("new/" + std::string(intray_job_file_name(job.get())));
  auto done = submit(inbox.get(), job.get());
  CHECK(done.code == INTRAY_OK);
  CHECK_FALSE(done.error);
  CHECK(test::read_text(path) == intray_job_bytes(job.get(), nullptr));
  done = submit(inbox.get(), job.get());
  CHECK(done.code == INTRAY_ALREADY);
  CHECK_FALSE(done.error);
  test::write_text(path, "another's");
  done = submit(inbox.get(), job.get());
  CHECK(done.code == INTRAY_BUSY);
  CHECK(intray_error_code(done.error.get()) == INTRAY_BUSY);
  CHECK(fixture.names("tmp").empty());

  std::vector<Job> jobs;
  std::vector<const intray_job*> given;
  for (int i = 0; i < 3; ++i) given.push_back(jobs.emplace_back(make()).get());
  given.push_back(given[0]);
  given.push_back(job.get());
  std::vector<int> results(given.size(), -1);
  std::vector<intray_error*> errors(given.size(), nullptr);
  CHECK(intray_submit_batch(inbox.get(), given.data(), given.size(), results.data(), errors.data()) == INTRAY_BUSY);
  CHECK(results == std::vector<int>{INTRAY_OK, INTRAY_OK, INTRAY_OK, INTRAY_ALREADY, INTRAY_BUSY});
  for (std::size_t i = 0; i < errors.size(); ++i) CHECK((errors[i] != nullptr) == (i == 4));
  intray_error_free(errors[4]);
  CHECK(fixture.names("new").size() == 4);
  CHECK(intray_submit_batch(inbox.get(), nullptr, 0, nullptr, nullptr) == INTRAY_OK);

  given = {given[0], nullptr};
  results = {-1, -1};
  CHECK(intray_submit_batch(inbox.get(), given.data(), 2, results.data(), nullptr) == INTRAY_INVALID_ARGUMENT);
  CHECK(results == std::vector<int>{INTRAY_INVALID_ARGUMENT, INTRAY_INVALID_ARGUMENT});
}

// Each disk call of a hand-off fails in each way; then each allocation does.
TEST_CASE("abi: every failed step of a hand-off leaves one copy at most and an honest answer") {
  const InboxFixture fixture;
  const Inbox inbox = open(fixture);
  auto ways = test::ways_to_fail();
  ways.push_back({"EDQUOT once", {.error = EDQUOT}, false});
  ways.push_back({"EROFS from then on", {.error = EROFS}, true});
  ways.push_back({"EACCES once", {.error = EACCES}, false});
  for (const test::Way& way : ways) {
    bool finished = false;
    for (int at = 1; !finished; ++at) {
      INFO(way.name << ", call " << at);
      REQUIRE(at < 50);
      fixture.clear();
      const Job job = make();
      Outcome done{};
      {
        const test::FailNth fail(at, way.verdict, way.from_then_on);
        done = submit(inbox.get(), job.get());
        finished = fail.calls() < at;
      }
      const std::size_t in_new = fixture.names("new").size();
      CHECK(in_new + fixture.names("tmp").size() <= 1);
      CHECK((done.error == nullptr) == (done.code == INTRAY_OK));
      if (done.code == INTRAY_OK) CHECK(in_new == 1);
      if (done.code >= INTRAY_REFUSED) {
        CHECK(in_new == 0);
        const int error = way.verdict.error;
        CHECK(done.code == (error == EIO                         ? INTRAY_IO
                            : error == EDQUOT || error == ENOSPC ? INTRAY_NO_SPACE
                                                                 : INTRAY_DENIED));
      }
      if (in_new == 0) CHECK((done.code >= INTRAY_REFUSED || way.from_then_on));
      const int again = submit(inbox.get(), job.get()).code;
      CHECK(again == (in_new == 1 ? INTRAY_ALREADY : INTRAY_OK));
    }
  }
}

TEST_CASE("abi: an inbox that is taken away while it is open accepts nothing") {
  const InboxFixture fixture;
  const Inbox inbox = open(fixture);
  const Job job = make();
  std::filesystem::remove(fixture.path("new"));
  CHECK(submit(inbox.get(), job.get()).code == INTRAY_NOT_FOUND);
  CHECK(fixture.names("tmp").empty());
  std::filesystem::remove(fixture.path("tmp"));
  CHECK(submit(inbox.get(), job.get()).code == INTRAY_NOT_FOUND);
}

#ifdef INTRAY_ALLOCATIONS_CAN_FAIL
TEST_CASE("abi: an allocation that fails, whichever, is an answer and never more than the truth") {
  for_good = GENERATE(false, true);
  const InboxFixture fixture;
  const Inbox inbox = open(fixture);
  const test::WithoutSyncs fast;
  const auto sweep = [&](auto call) {
    for (int at = 0;; ++at) {
      REQUIRE(at < 2000);
      allocations_left = at;
      const int code = call();
      const bool finished = for_good ? allocations_left > 0 : allocations_left >= 0;
      allocations_left = -1;
      if (finished || code == INTRAY_OK) return code;  // some can do without: a sort that asks for a buffer
    }
  };
  intray_error* error = nullptr;
  intray_job* made = nullptr;
  const auto given = fields();
  CHECK(sweep([&] {
          intray_error_free(error);
          intray_job_free(made);
          const int code = intray_job_make_save(&given, nullptr, &made, &error);
          if ((code == INTRAY_OK) != (made != nullptr) || (code == INTRAY_OK) != (error == nullptr)) std::abort();
          return code;
        }) == INTRAY_OK);
  const Job job(made);
  // What the hook of the test itself allocates fails as well, so the truth is looked for outside.
  int code = -1;
  for (int at = 0; code != INTRAY_OK; ++at) {
    INFO("allocation " << at);
    REQUIRE(at < 2000);
    fixture.clear();
    allocations_left = at;
    code = intray_submit(inbox.get(), job.get(), &error);
    allocations_left = -1;
    intray_error_free(error);
    const std::size_t in_new = fixture.names("new").size();
    if (code == INTRAY_OK) CHECK(in_new == 1);
    if (code >= INTRAY_REFUSED) CHECK(in_new == 0);
    if (code == INTRAY_NO_MEMORY) CHECK(fixture.names("tmp").empty());
    if (in_new == 1) CHECK((code == INTRAY_OK || code == INTRAY_OUTCOME_UNKNOWN));
  }
  answer(fixture, job.get(), model::State::kUnknown, 1);
  intray_waiter* waiter = nullptr;
  REQUIRE(intray_waiter_new(inbox.get(), &waiter, nullptr) == INTRAY_OK);
  const Waiter owned(waiter);
  intray_receipt* receipt = nullptr;
  CHECK(sweep([&] { return intray_waiter_add(waiter, job.get(), nullptr); }) == INTRAY_OK);
  CHECK(sweep([&] { return intray_waiter_next(waiter, 0, &receipt, nullptr); }) == INTRAY_OK);
  REQUIRE(receipt != nullptr);  // not lost by any of the attempts before
  CHECK(intray_receipt_audit_seq(Receipt(receipt).get()) == 1);
}

TEST_CASE("abi: an allocation that fails in a batch ends no thread and says no more than the truth") {
  for_good = GENERATE(false, true);
  const InboxFixture fixture;
  const Inbox inbox = open(fixture);
  const test::WithoutSyncs fast;
  const std::vector<Job> jobs = [] {
    std::vector<Job> out;
    for (int i = 0; i < 3; ++i) out.push_back(make());
    return out;
  }();
  std::vector<const intray_job*> given;
  for (const Job& job : jobs) given.push_back(job.get());
  bool finished = false;
  for (int at = 0; !finished; ++at) {
    INFO("allocation " << at);
    REQUIRE(at < 2000);
    fixture.clear();
    std::vector<int> results(given.size(), -1);
    std::vector<intray_error*> errors(given.size(), nullptr);
    allocations_left = at;
    const int code = intray_submit_batch(inbox.get(), given.data(), given.size(), results.data(), errors.data());
    finished = for_good ? allocations_left > 0 : allocations_left >= 0;
    allocations_left = -1;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const bool in_new = std::filesystem::exists(fixture.path("new/" + std::string(intray_job_file_name(given[i]))));
      if (results[i] == INTRAY_OK) CHECK(in_new);
      if (results[i] >= INTRAY_REFUSED) CHECK_FALSE(in_new);
      CHECK((errors[i] == nullptr) == (results[i] == INTRAY_OK));
      if (finished) CHECK(results[i] == INTRAY_OK);
      intray_error_free(errors[i]);
    }
    if (finished) CHECK(code == INTRAY_OK);
  }
}
#endif

TEST_CASE("abi: a receipt is waited for by id and bytes, and the highest audit_seq counts") {
  const InboxFixture fixture;
  const Inbox inbox = open(fixture);
  const Job job = make();
  const Job other = make();
  intray_receipt* receipt = nullptr;
  CHECK(intray_wait(inbox.get(), job.get(), 0, &receipt, nullptr) == INTRAY_TIMEOUT);
  CHECK(receipt == nullptr);
  CHECK(intray_wait(inbox.get(), job.get(), 20'000, &receipt, nullptr) == INTRAY_TIMEOUT);
  answer(fixture, job.get(), model::State::kSucceeded, 7);
  answer(fixture, job.get(), model::State::kUnknown, 3);
  REQUIRE(intray_wait(inbox.get(), job.get(), -1, &receipt, nullptr) == INTRAY_OK);
  {
    const Receipt owned(receipt);
    CHECK(intray_receipt_audit_seq(receipt) == 7);
    CHECK(intray_receipt_state(receipt) == INTRAY_STATE_SUCCEEDED);
    CHECK(intray_receipt_result(receipt) == std::string("UNKNOWN"));
    CHECK(intray_receipt_reason(receipt) == std::string("RESPONSE_LOST"));
    CHECK(intray_receipt_detail(receipt) == nullptr);
    CHECK(intray_receipt_job_id(receipt) == std::string(intray_job_id(job.get())));
    CHECK(intray_receipt_job_sha256(receipt) == std::string(intray_job_sha256(job.get())));
    CHECK(intray_receipt_attempts(receipt) == 0);
    CHECK(intray_receipt_finished_at_us(receipt) == 5);
    CHECK(intray_receipt_admitted_at_us(receipt) == 0);
    CHECK(model::parse_receipt(intray_receipt_json(receipt)));
  }
  intray_waiter* waiter = nullptr;
  REQUIRE(intray_waiter_new(inbox.get(), &waiter, nullptr) == INTRAY_OK);
  const Waiter owned(waiter);
  CHECK(intray_waiter_next(waiter, 0, &receipt, nullptr) == INTRAY_NONE_LEFT);
  REQUIRE(intray_waiter_add(waiter, job.get(), nullptr) == INTRAY_OK);
  REQUIRE(intray_waiter_next(waiter, 0, &receipt, nullptr) == INTRAY_OK);
  CHECK(intray_receipt_audit_seq(Receipt(receipt).get()) == 7);
  CHECK(intray_waiter_next(waiter, 0, &receipt, nullptr) == INTRAY_NONE_LEFT);
  // Added later, though its receipt lies before what was read.
  answer(fixture, other.get(), model::State::kFailed, 8);
  CHECK(intray_waiter_next(waiter, 0, &receipt, nullptr) == INTRAY_NONE_LEFT);
  REQUIRE(intray_waiter_add_id(waiter, intray_job_id(other.get()), intray_job_sha256(other.get()), 0, nullptr) ==
          INTRAY_OK);
  CHECK(intray_waiter_pending(waiter) == 1);
  REQUIRE(intray_waiter_next(waiter, 0, &receipt, nullptr) == INTRAY_OK);
  CHECK(intray_receipt_state(Receipt(receipt).get()) == INTRAY_STATE_FAILED);
  CHECK(intray_waiter_pending(waiter) == 0);
  CHECK(intray_waiter_add_id(waiter, "x", intray_job_sha256(job.get()), 0, nullptr) == INTRAY_INVALID_ARGUMENT);
}
