#include "ledger/sqlite/admission.h"

#include <catch2/catch.hpp>
#include <map>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using ledger::Admission;
using ledger::Ended;
using model::Event;
using model::Reason;
using model::ResultWord;
using model::State;

namespace {

// Two jobs that ask for the same under one key.
struct Twins {
  JobSpec first;
  JobSpec second;
};
Twins twins() {
  JobSpec spec{.key = base::IdempotencyKey::generate(), .object_id = "twin", .path = "/app/vault/twin.md"};
  return {spec, spec};
}

}  // namespace

TEST_CASE("admission: a job that can run is admitted and claimed in one commit (J01, J03)") {
  LedgerSite site;
  const auto before = site->counters().commits;
  const auto file = site.job();
  const auto admitted = site.admit(file);
  CHECK(site->counters().commits == before + 1);
  REQUIRE(admitted.admission == Admission::kClaimed);
  REQUIRE(admitted.job);
  const auto& job = *admitted.job;
  CHECK(job.state == State::kClaimed);
  CHECK(job.facts.job_id == file.facts->job_id);
  CHECK(job.claim_id);
  CHECK(job.fence == base::Fence{1});
  CHECK(job.job_sha256 == *file.sha256);
  CHECK(job.deadline_at == site.clock.wall() + base::Micros{site.options.policy.deadline_us});
  CHECK(site.trail(job.seq) == "REQUESTED:J01 CLAIMED:J03");
  CHECK(value_of(site.reader()->canonical_bytes(job.seq)) == file.bytes);
  const auto found = value_of(site->find_job(file.facts->job_id));
  REQUIRE(found);
  CHECK(found->claim_id == job.claim_id);
  CHECK(found->state == State::kClaimed);
}

TEST_CASE("admission: a job that is not to be claimed now waits READY") {
  LedgerSite site;
  const auto admitted = site.admit(site.job({.claim_now = false}));
  CHECK(admitted.admission == Admission::kReady);
  CHECK_FALSE(admitted.job);
  CHECK(site.trail(base::JobSeq{1}) == "REQUESTED:J01");
}

TEST_CASE("idempotency: same job_id, same bytes: no second job, DUPLICATE in the audit, no receipt before the end") {
  LedgerSite site;
  auto file = site.job();
  const auto first = site.admit(file);
  file.take.value += 1000;
  const auto again = site.admit(file);
  CHECK(again.admission == Admission::kDuplicate);
  CHECK_FALSE(again.ended);
  CHECK(site.number("SELECT count(*) FROM jobs") == 1);
  CHECK(site.trail(first.job->seq) == "REQUESTED:J01 CLAIMED:J03 DUPLICATE");
}

TEST_CASE("idempotency: same job_id, same bytes, ended: the very same receipt is issued again") {
  LedgerSite site;
  auto file = site.job();
  const auto first = site.admit(file);
  ledger::Batch batch;
  batch.starts.push_back(site.start_of({first.job->seq, *first.job->claim_id}));
  site.commit(batch);
  const Ended ended =
      site.ended_by(site.finish_of({first.job->seq, *first.job->claim_id}, Event::kConfirm, ResultWord::kApplied));
  file.take.value += 1000;
  const auto again = site.admit(file);
  REQUIRE(again.admission == Admission::kDuplicate);
  REQUIRE(again.ended);
  CHECK(again.ended->from == Ended::From::kNowhere);
  CHECK(model::to_line(again.ended->receipt) == model::to_line(ended.receipt));
}

TEST_CASE("idempotency: same job_id, other bytes: REJECTED JOB_ID_CONFLICT, the first is untouched") {
  LedgerSite site;
  const auto id = base::JobId::generate();
  const auto first = site.admit(site.job({.job_id = id}));
  const auto revision = site.number("SELECT revision FROM jobs");
  const auto other = site.job({.job_id = id});
  const auto second = site.admit(other);
  REQUIRE(second.admission == Admission::kEnded);
  REQUIRE(second.ended);
  CHECK(second.ended->receipt.state == State::kRejected);
  CHECK(second.ended->receipt.reason == Reason::kJobIdConflict);
  CHECK(second.ended->receipt.job_id == id);
  CHECK(second.ended->receipt.job_sha256 == other.sha256);
  CHECK(second.ended->receipt.result == ResultWord::kRefused);
  CHECK(second.ended->seq.value == 0);
  CHECK(site.number("SELECT count(*) FROM jobs") == 1);
  CHECK(site.number("SELECT count(*) FROM files") == 1);
  CHECK(site.number("SELECT revision FROM jobs") == revision);
  CHECK(site.state_of(first.job->seq) == State::kClaimed);
}

TEST_CASE("idempotency: same key, same request: follows the first and ends as it did, without a request of its own") {
  LedgerSite site;
  const Twins pair = twins();
  const Hand first = site.executing(pair.first);
  const auto follower = site.admit(site.job(pair.second));
  CHECK(follower.admission == Admission::kFollowing);
  const base::JobSeq second{first.seq.value + 1};
  CHECK(site.state_of(second) == State::kReady);

  ledger::Batch batch;
  batch.finishes.push_back(site.finish_of(first, Event::kConfirm, ResultWord::kApplied));
  const auto before = site->counters().commits;
  const auto result = site.commit(batch);
  CHECK(site->counters().commits == before + 1);
  REQUIRE(result.ended.size() == 2);
  CHECK(result.ended[0].from == Ended::From::kLease);
  CHECK(result.ended[1].from == Ended::From::kCur);
  CHECK(result.ended[1].seq == second);
  CHECK(result.ended[1].receipt.state == State::kSucceeded);
  CHECK(result.ended[1].receipt.result == ResultWord::kIdempotentReplay);
  CHECK(result.ended[1].receipt.attempts == 0);
  CHECK(site.trail(second) == "REQUESTED:J01 CLAIMED:J03 STARTED:J05 OUTCOME:J09");
  CHECK(site.number("SELECT count(*) FROM attempts WHERE job_seq = 2") == 0);
}

TEST_CASE("idempotency: a follower of a final job ends in the commit that admits it, with its state and reason") {
  LedgerSite site;
  const Twins pair = twins();
  struct Case {
    Event event;
    ResultWord result;
    std::optional<Reason> reason;
    State state;
    const char* last;
  };
  const auto c =
      GENERATE(Case{Event::kConfirm, ResultWord::kApplied, std::nullopt, State::kSucceeded, "OUTCOME:J09"},
               Case{Event::kNoEffect, ResultWord::kNoEffect, Reason::kReceiverRefused, State::kFailed, "OUTCOME:J10"},
               Case{Event::kDeny, ResultWord::kRefused, Reason::kStaleSource, State::kRejected, "REJECTED:J11"});
  const Hand first = site.executing(pair.first);
  auto finish = site.finish_of(first, c.event, c.result);
  finish.reason = c.reason;
  site.ended_by(finish);
  const auto follower = site.admit(site.job(pair.second));
  REQUIRE(follower.admission == Admission::kEnded);
  REQUIRE(follower.ended);
  CHECK(follower.ended->from == Ended::From::kLease);
  CHECK(follower.ended->receipt.state == c.state);
  CHECK(follower.ended->receipt.reason == c.reason);
  CHECK(follower.ended->receipt.result == ResultWord::kIdempotentReplay);
  CHECK(site.trail(base::JobSeq{2}) == std::string("REQUESTED:J01 CLAIMED:J03 STARTED:J05 ") + c.last);
}

TEST_CASE("idempotency: a follower of a job in OUTCOME_UNKNOWN waits, past every deadline") {
  LedgerSite site;
  const Twins pair = twins();
  const Hand first = site.executing(pair.first);
  auto lost = site.finish_of(first, Event::kLose, ResultWord::kUnknown);
  lost.may_have_effect = true;
  site.ended_by(lost);
  CHECK(site.admit(site.job(pair.second)).admission == Admission::kFollowing);
  site.clock.advance(std::chrono::hours{48});
  site.die_and_take_over();
  ledger::Batch batch;
  batch.expire = true;
  batch.claim_max = 10;
  const auto result = site.commit(batch);
  CHECK(result.ended.empty());
  CHECK(result.claimed.empty());
  CHECK(value_of(site->waiting()).ready == 1);
}

// A resend with a new created_at would otherwise be answered with the age of the first for ever.
TEST_CASE("idempotency: a first job refused for its own age or mission, untried, is no first job to the next one") {
  LedgerSite site;
  const Twins pair = twins();
  auto old = site.job(pair.first);
  SECTION("refused at admission") {
    old.refusal = GENERATE(Reason::kJobTooOld, Reason::kCreatedInFuture, Reason::kStaleMission);
    REQUIRE(site.admit(old).admission == Admission::kEnded);
  }
  SECTION("waited past its deadline") {
    old.claim_now = false;
    REQUIRE(site.admit(old).admission == Admission::kReady);
    site.clock.advance(std::chrono::hours{25});
    site.die_and_take_over();
    ledger::Batch expiry;
    expiry.expire = true;
    REQUIRE(site.commit(expiry).ended.at(0).receipt.reason == Reason::kDeadlineExceeded);
  }
  const Hand second = site.executing(pair.second);  // runs by itself
  CHECK(second.seq == base::JobSeq{2});

  // A resend of the refused kind in between hides nobody: the next one follows the job that runs.
  auto third = site.job(pair.second);
  third.refusal = Reason::kJobTooOld;
  CHECK(site.admit(third).ended->receipt.reason == Reason::kJobTooOld);
  CHECK(site.admit(site.job(pair.second)).admission == Admission::kFollowing);
  ledger::Batch batch;
  batch.finishes.push_back(site.finish_of(second, Event::kConfirm, ResultWord::kApplied));
  CHECK(site.commit(batch).ended.size() == 2);
  CHECK(site.state_of(base::JobSeq{4}) == State::kSucceeded);
  const auto fifth = site.admit(site.job(pair.second));
  REQUIRE(fifth.ended);
  CHECK(fifth.ended->receipt.result == ResultWord::kIdempotentReplay);
  CHECK(fifth.ended->receipt.state == State::kSucceeded);
}

TEST_CASE("idempotency: a refusal of what a job asks for is replayed, and its key stays bound to that request") {
  LedgerSite site;
  const Twins pair = twins();
  const Hand first = site.claimed(pair.first);
  auto denied = site.finish_of(first, Event::kDeny, ResultWord::kRefused);
  denied.reason = Reason::kUnknownCommit;
  site.ended_by(denied);
  CHECK(site.admit(site.job(pair.second)).ended->receipt.result == ResultWord::kIdempotentReplay);

  LedgerSite other;
  auto old = other.job(pair.first);
  old.refusal = Reason::kJobTooOld;
  other.admit(old);
  CHECK(other.admit(other.job({.key = pair.first.key})).ended->receipt.reason == Reason::kIdempotencyKeyConflict);
}

TEST_CASE("idempotency: same key, another request: REJECTED IDEMPOTENCY_KEY_CONFLICT") {
  LedgerSite site;
  const auto key = base::IdempotencyKey::generate();
  site.admit(site.job({.key = key}));
  const auto other = site.job({.key = key});
  const auto second = site.admit(other);
  REQUIRE(second.admission == Admission::kEnded);
  CHECK(second.ended->receipt.reason == Reason::kIdempotencyKeyConflict);
  CHECK(second.ended->receipt.job_id == other.facts->job_id);
  CHECK(site.number("SELECT count(*) FROM jobs") == 1);
  CHECK_FALSE(value_of(site->find_job(other.facts->job_id)));
}

TEST_CASE("admission: a job refused by a rule is REJECTED (J02), keeps its id, and is a duplicate the next time") {
  LedgerSite site;
  auto file = site.job();
  file.refusal = Reason::kJobTooOld;
  file.detail = "older than 7 days";
  const auto refused = site.admit(file);
  REQUIRE(refused.admission == Admission::kEnded);
  CHECK(refused.ended->receipt.reason == Reason::kJobTooOld);
  CHECK(refused.ended->receipt.evidence.detail == "older than 7 days");
  CHECK(site.trail(base::JobSeq{1}) == "REJECTED:J02");
  file.take.value += 1;
  const auto again = site.admit(file);
  CHECK(again.admission == Admission::kDuplicate);
  CHECK(model::to_line(again.ended->receipt) == model::to_line(refused.ended->receipt));
}

TEST_CASE("admission: a bad file has a row in files, a chained audit row, an escaped name and no job") {
  LedgerSite site;
  const auto file = site.bad_file();
  const auto refused = site.admit(file);
  REQUIRE(refused.admission == Admission::kEnded);
  const auto& receipt = refused.ended->receipt;
  CHECK_FALSE(receipt.job_id);
  CHECK(receipt.file_name == "evil\\x1b[2Jname");
  CHECK(receipt.job_sha256 == file.sha256);
  CHECK(receipt.reason == Reason::kMalformedJson);
  CHECK(site.number("SELECT count(*) FROM jobs") == 0);
  CHECK(site.trail() == "REJECTED:J02");
  CHECK(site.text("SELECT detail FROM audit") == "evil\\x1b[2Jname: member \"a\" twice");
}

TEST_CASE("admission: a bad file under a trusted job id does not take that id") {
  LedgerSite site;
  auto file = site.bad_file(Reason::kUnsafePath);
  const auto id = base::JobId::generate();
  file.trusted_job_id = id;
  CHECK(site.admit(file).ended->receipt.job_id == id);
  CHECK(site.admit(site.job({.job_id = id})).admission == Admission::kClaimed);
}

TEST_CASE("admission: the same taken file twice (a crash before it was moved) is answered as before, once") {
  LedgerSite site;
  SECTION("a bad file") {
    const auto file = site.bad_file();
    const auto first = site.admit(file);
    const auto again = site.admit(file);
    REQUIRE(again.admission == Admission::kEnded);
    CHECK(model::to_line(again.ended->receipt) == model::to_line(first.ended->receipt));
    CHECK(site.number("SELECT count(*) FROM files") == 1);
    CHECK(site.trail() == "REJECTED:J02");
  }
  SECTION("a waiting job") {
    const auto file = site.job({.claim_now = false});
    site.admit(file);
    CHECK(site.admit(file).admission == Admission::kReady);
    CHECK(site.trail() == "REQUESTED:J01");
  }
  SECTION("a refused job") {
    auto file = site.job();
    file.refusal = Reason::kJobTooOld;
    const auto first = site.admit(file);
    const auto again = site.admit(file);
    REQUIRE(again.admission == Admission::kEnded);
    CHECK(again.ended->from == Ended::From::kLease);
    CHECK(model::to_line(again.ended->receipt) == model::to_line(first.ended->receipt));
  }
}

TEST_CASE("admission: two jobs of one object in one batch: the second waits READY") {
  LedgerSite site;
  ledger::Batch batch;
  batch.admits.push_back(site.job({.object_id = "one"}));
  batch.admits.push_back(site.job({.object_id = "one"}));
  batch.admits.push_back(site.job({.path = batch.admits[1].facts->vault_path}));
  const auto result = site.commit(batch);
  CHECK(result.admitted[0].admission == Admission::kClaimed);
  CHECK(result.admitted[1].admission == Admission::kReady);
  CHECK(result.admitted[2].admission == Admission::kReady);
}

TEST_CASE("admission: a duplicate inside one batch is known by then") {
  LedgerSite site;
  ledger::Batch batch;
  batch.admits.push_back(site.job());
  batch.admits.push_back(batch.admits[0]);
  batch.admits[1].take.value += 1000;
  const auto result = site.commit(batch);
  CHECK(result.admitted[0].admission == Admission::kClaimed);
  CHECK(result.admitted[1].admission == Admission::kDuplicate);
}

TEST_CASE("admission: a job of the other kind is a caller's mistake and changes nothing") {
  LedgerSite site;
  ledger::Batch batch;
  batch.admits.push_back(site.job({.kind = model::JobKind::kDelete}));
  const auto result = site->commit(site.held, batch);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == base::ErrorCode::kInvalid);
  CHECK(site.number("SELECT count(*) FROM jobs") == 0);
}

TEST_CASE("admission: who owns the jobs that wait or run, in every state they may be in") {
  LedgerSite site;
  const auto owners = [&] {
    std::string text;
    for (const auto& count : value_of(site->live_by_owner()))
      text += std::to_string(count.owner_uid) + ":" + std::to_string(count.jobs) + " ";
    return text;
  };
  CHECK(owners().empty());
  std::map<std::uint32_t, std::int64_t> bytes;
  const auto of = [&](std::uint32_t uid, const JobSpec& spec) {
    auto file = site.job(spec);
    file.owner_uid = uid;
    bytes[uid] += static_cast<std::int64_t>(file.bytes.size());
    return site.admit(file);
  };
  const Twins pair = twins();
  const auto first = of(7, pair.first);                                              // CLAIMED
  CHECK(of(8, pair.second).admission == Admission::kFollowing);                      // READY behind its first
  CHECK(of(7, {.object_id = pair.first.object_id}).admission == Admission::kReady);  // READY, its object is in use
  of(9, {.claim_now = false});                                                       // READY
  CHECK(owners() == "7:2 8:1 9:1 ");

  const Hand hand{first.job->seq, *first.job->claim_id};
  ledger::Batch batch;
  batch.starts.push_back(site.start_of(hand));
  site.commit(batch);
  CHECK(owners() == "7:2 8:1 9:1 ");  // EXECUTING
  batch = {};
  batch.finishes.push_back(site.finish_of(hand, Event::kRetry));
  site.commit(batch);
  CHECK(owners() == "7:2 8:1 9:1 ");  // RETRYABLE

  auto file = site.bad_file();
  file.owner_uid = 9;
  CHECK(site.admit(file).ended->owner_uid == 9);
  const auto ended = site.applied();
  CHECK(ended.owner_uid == 1000);
  CHECK(ended.job_bytes == site.number("SELECT length(bytes) FROM job_bodies ORDER BY seq DESC LIMIT 1"));
  CHECK(owners() == "7:2 8:1 9:1 ");
  for (const auto& count : value_of(site->live_by_owner())) CHECK(count.bytes == bytes[count.owner_uid]);
}
