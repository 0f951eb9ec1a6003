#include "cli/listing.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cli/find_job.h"
#include "cli/ls.h"
#include "test_console.h"

using namespace intray;
using namespace intray::cli;
using namespace std::chrono_literals;
using model::JobKind;
using model::State;

namespace {

ledger::JobSummary job(const TestConsole& test, State state) {
  ledger::JobSummary s;
  s.job.facts.job_id = *base::JobId::parse("0b0e5b1c-1111-4222-8333-444455556666");
  s.job.facts.vault_path = "/app/vault/notes/Zürich.md";
  s.job.facts.object_id = "p-1";
  s.job.state = state;
  s.state_since = test.clock.wall() - 90s;
  return s;
}

std::int64_t& number_of(Totals& totals, State state) { return totals.counts.by_state[static_cast<std::size_t>(state)]; }

}  // namespace

TEST_CASE("Listing: a job's row, short on a terminal, whole ids elsewhere") {
  TestConsole test;
  Listing plain(test.console, false, false, false);
  ledger::JobSummary unknown = job(test, State::kUnknown);
  unknown.reason = model::Reason::kResponseLost;
  plain.add(unknown);
  plain.finish();
  CHECK(test.out.str() ==
        "STATE            AGE  JOB                                   PATH                        WHY\n"
        "OUTCOME_UNKNOWN  90s  0b0e5b1c-1111-4222-8333-444455556666  /app/vault/notes/Zürich.md  RESPONSE_LOST\n");
  TestConsole terminal;
  terminal.console.out_is_terminal = true;
  Listing narrow(terminal.console, false, false, false);
  narrow.add(job(terminal, State::kReady));
  narrow.finish();
  CHECK(terminal.out.str().find("90s  0b0e5b1c  /app") != std::string::npos);
}

TEST_CASE("Listing -l: tries, worker and object; a worker whose lease is over is loud") {
  TestConsole test;
  Listing listing(test.console, true, false, true);
  ledger::JobSummary s = job(test, State::kExecuting);
  s.job.attempt_count = 2;
  s.worker_id = *base::WorkerId::parse("aaaaaaaa-1111-4222-8333-444455556666");
  s.lease_over = true;
  listing.add(s);
  listing.finish();
  CHECK(test.out.str().find("KIND  STATE") == 0);
  CHECK(test.out.str().find("2  aaaaaaaa lapsed  0b0e5b1c-1111-4222-8333-444455556666  p-1") != std::string::npos);
}

TEST_CASE("Listing: says why a waiting job waits") {
  TestConsole test;
  Listing listing(test.console, false, false, false);
  ledger::JobSummary retry = job(test, State::kRetryable);
  retry.reason = model::Reason::kReceiverError;
  retry.job.not_before = test.clock.wall() + 4s;
  listing.add(retry);
  ledger::JobSummary follower = job(test, State::kReady);
  follower.job.follows = base::JobSeq{1};
  listing.add(follower);
  listing.finish();
  CHECK(test.out.str().find("RECEIVER_ERROR, again in 4s") != std::string::npos);
  CHECK(test.out.str().find("waits for the first job with its key") != std::string::npos);
}

TEST_CASE("Listing: names from new/ attack no terminal, and are exact in JSON") {
  const std::string hostile = "\x1b]0;owned\x07\xe2\x80\xae.json";
  TestConsole test;
  Listing listing(test.console, false, false, false);
  listing.add(NewFile{.name = hostile, .job = std::nullopt, .info = sys::FileInfo{}}, JobKind::kSave);
  listing.finish();
  CHECK(test.out.str().find('\x1b') == std::string::npos);
  CHECK(test.out.str().find("\xe2\x80\xae") == std::string::npos);
  CHECK(test.out.str().find("\\x1b]0;owned\\x07\\xe2\\x80\\xae.json") != std::string::npos);
  CHECK(test.out.str().find("not the name of a job") != std::string::npos);

  TestConsole json;
  json.console.json = true;
  Listing lines(json.console, false, false, false);
  lines.add(NewFile{.name = hostile, .job = std::nullopt, .info = std::nullopt}, JobKind::kSave);
  CHECK(nlohmann::json::parse(json.out.str())["name"] == hostile);
  CHECK(nlohmann::json::parse(json.out.str())["note"] == "vanished");
}

TEST_CASE("Listing -1: ids of jobs alone") {
  TestConsole test;
  Listing listing(test.console, false, true, false);
  listing.add(job(test, State::kReady));
  listing.add(ledger::FileSummary{}, JobKind::kSave);
  listing.note_more(5, "READY", JobKind::kSave);
  listing.finish();
  CHECK(test.out.str() == "0b0e5b1c-1111-4222-8333-444455556666\n");
}

TEST_CASE("Listing: rows left out on purpose are counted, with the command that shows them") {
  TestConsole test;
  Listing listing(test.console, false, false, false);
  listing.add(job(test, State::kReady));
  listing.note_more(4'000, "READY", JobKind::kSave);
  listing.finish();
  CHECK(test.out.str().ends_with("4,000 more READY: intray ls save READY\n"));
}

TEST_CASE("sentence: what needs a person comes first; nothing is left out, nothing is zero") {
  Totals totals;
  CHECK(sentence(totals) == "save: nothing waits or runs");
  number_of(totals, State::kUnknown) = 1;
  number_of(totals, State::kReady) = 1'234;
  totals.fresh = 3;
  CHECK(sentence(totals) == "save: 1 unknown, 1,234 ready, 3 new");
  number_of(totals, State::kSucceeded) = 12;
  totals.counts.files = 1;
  CHECK(sentence(totals) == "save: 1 unknown, 1,234 ready, 3 new; ended: 12 succeeded, 1 file that is no job");
}

TEST_CASE("print_totals: says how complete the list is") {
  TestConsole test;
  Totals totals;
  totals.listed = 2;
  totals.vanished = 1;
  totals.unreadable = 3;
  print_totals(test.console, totals);
  CHECK(test.out.str() == "\nsave: nothing waits or runs\nlisted 2, 1 vanished meanwhile, 3 unreadable\n");
  TestConsole json;
  json.console.json = true;
  print_totals(json.console, totals);
  const auto object = nlohmann::json::parse(json.out.str());
  CHECK(object["type"] == "summary");
  CHECK(object["counts"].is_null());  // the ledger was not read: no zeros that nobody counted
  CHECK(object["unreadable"] == 3);
}

TEST_CASE("select_listing: kind, states and NEW in any order and letter case") {
  const auto picked = select_listing({"ready", "SAVE", "new", "Unknown"});
  REQUIRE(picked);
  CHECK(picked->kind == JobKind::kSave);
  CHECK(picked->states == std::vector<State>{State::kReady, State::kUnknown});
  CHECK(picked->fresh);
  CHECK_FALSE(picked->overview());
  CHECK(select_listing({"delete"})->overview());
  const auto wrong = select_listing({"REDY"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().what == "REDY: neither a kind of job nor a state; did you mean READY?");
  CHECK(select_listing({"save", "delete"}).error().what.starts_with("delete: neither"));
}

TEST_CASE("normal_prefix: the beginning of an id, in any letter case, and nothing else") {
  CHECK(normal_prefix("0B0E5b1c") == "0b0e5b1c");
  CHECK(normal_prefix("0b0e5b1c-1111-4222-8333-444455556666"));
  for (const char* text : {"", "0b0", "0b0g", "0b0e%", "../x", "0b0e5b1c-1111-4222-8333-4444555566667", "0b0e\n"})
    CHECK_FALSE(normal_prefix(text));
}
