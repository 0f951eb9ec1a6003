#include "ledger/sqlite/outcomes.h"

#include <catch2/catch.hpp>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using ledger::Ended;
using model::Event;
using model::Reason;
using model::ResultWord;
using model::State;

namespace {

ledger::BatchResult finish(LedgerSite& site, const ledger::Finish& one) {
  ledger::Batch batch;
  batch.finishes.push_back(one);
  return site.commit(batch);
}

ledger::Started start(LedgerSite& site, const ledger::Start& one) {
  ledger::Batch batch;
  batch.starts.push_back(one);
  return site.commit(batch).started.at(0);
}

Hand claim_again(LedgerSite& site) {
  ledger::Batch batch;
  batch.claim_max = 1;
  const auto claimed = site.commit(batch).claimed;
  REQUIRE(claimed.size() == 1);
  return {claimed[0].seq, *claimed[0].claim_id};
}

}  // namespace

TEST_CASE(
    "outcomes: a start records the attempt, the possible effect and both audit rows before anything is sent (J05)") {
  LedgerSite site;
  const Hand hand = site.claimed();
  const auto one = site.start_of(hand);
  const auto started = start(site, one);
  CHECK(started.ok);
  CHECK(started.repetition == 0);
  CHECK(site.trail(hand.seq) == "REQUESTED:J01 CLAIMED:J03 AUTHORIZED ATTEMPT:J05");
  CHECK(site.state_of(hand.seq) == State::kExecuting);
  const auto attempts = value_of(site.reader()->attempts(hand.seq));
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].attempt_id == one.attempt_id);
  CHECK(attempts[0].outcome.empty());
  CHECK(attempts[0].fence == base::Fence{1});
  CHECK(site.text("SELECT state FROM effects") == "POSSIBLE");
  const auto record = value_of(site->find_job(*base::JobId::from_bytes(site.text("SELECT job_id FROM jobs"))));
  CHECK(record->may_have_effect);
  CHECK(record->content_sha256 == one.content_sha256);
  CHECK(record->effect_key == one.effect_key);
  CHECK(record->attempt_id == one.attempt_id);
  CHECK(record->attempt_count == 1);
}

TEST_CASE(
    "outcomes: APPLIED ends the job, its attempt and its effect in one commit, and is EXECUTED in the audit (J09)") {
  LedgerSite site;
  const Hand hand = site.executing();
  auto done = site.finish_of(hand, Event::kConfirm, ResultWord::kApplied);
  done.evidence.http_status = 200;
  done.evidence.observed_sha256 = base::sha256("content");
  const Ended ended = site.ended_by(done);
  CHECK(ended.receipt.state == State::kSucceeded);
  CHECK(ended.receipt.result == ResultWord::kApplied);
  CHECK(ended.receipt.attempts == 1);
  CHECK(ended.receipt.evidence.http_status == 200);
  CHECK(ended.receipt.worker_id == site.held.connector_id);
  CHECK(ended.receipt.epoch == site.held.epoch);
  CHECK(ended.from == Ended::From::kLease);
  CHECK(site.trail(hand.seq) == "REQUESTED:J01 CLAIMED:J03 AUTHORIZED ATTEMPT:J05 EXECUTED:J09");
  CHECK(ended.receipt.audit_seq.value == site.number("SELECT max(seq) FROM audit"));
  CHECK(ended.receipt.audit_hash.view() == site.text("SELECT hash FROM audit ORDER BY seq DESC LIMIT 1"));
  const auto attempts = value_of(site.reader()->attempts(hand.seq));
  CHECK(attempts.at(0).outcome == "APPLIED");
  CHECK(attempts.at(0).http_status == 200);
  CHECK(site.text("SELECT state FROM effects") == "APPLIED");
}

TEST_CASE("outcomes: every end from a claim without a request passes J05 in the same commit, without an attempt") {
  struct Case {
    Event event;
    ResultWord result;
    State state;
    const char* last;
  };
  const auto c = GENERATE(Case{Event::kConfirm, ResultWord::kAlreadyAtTarget, State::kSucceeded, "OBSERVED:J09"},
                          Case{Event::kNoEffect, ResultWord::kNoEffect, State::kFailed, "OUTCOME:J10"},
                          Case{Event::kDeny, ResultWord::kRefused, State::kRejected, "REJECTED:J11"},
                          Case{Event::kLose, ResultWord::kUnknown, State::kUnknown, "OUTCOME:J12"});
  LedgerSite site;
  const Hand hand = site.claimed();
  const auto before = site->counters().commits;
  const Ended ended = site.ended_by(site.finish_of(hand, c.event, c.result));
  CHECK(site->counters().commits == before + 1);
  CHECK(ended.receipt.state == c.state);
  CHECK(ended.receipt.attempts == 0);
  CHECK(site.trail(hand.seq) == std::string("REQUESTED:J01 CLAIMED:J03 STARTED:J05 ") + c.last);
  CHECK(site.number("SELECT count(*) FROM attempts") == 0);
}

TEST_CASE(
    "outcomes: FAILED and REJECTED are refused while an effect is possible: nothing changes, TRANSITION_REFUSED") {
  const auto event = GENERATE(Event::kNoEffect, Event::kDeny);
  LedgerSite site;
  const Hand hand = site.executing();
  auto wrong = site.finish_of(hand, event, event == Event::kDeny ? ResultWord::kRefused : ResultWord::kNoEffect);
  wrong.may_have_effect = true;
  const auto revision = site.number("SELECT revision FROM jobs");
  const auto result = finish(site, wrong);
  CHECK_FALSE(result.finished.at(0));
  CHECK(result.ended.empty());
  CHECK(site.state_of(hand.seq) == State::kExecuting);
  CHECK(site.number("SELECT revision FROM jobs") == revision);
  CHECK(site.trail(hand.seq) == "REQUESTED:J01 CLAIMED:J03 AUTHORIZED ATTEMPT:J05 TRANSITION_REFUSED");
  CHECK(site.text("SELECT reason FROM audit ORDER BY seq DESC LIMIT 1") == "INVALID_TRANSITION");
}

TEST_CASE("outcomes: a second start of a started job is INVALID_TRANSITION") {
  LedgerSite site;
  const Hand hand = site.executing();
  const auto again = start(site, site.start_of(hand));
  CHECK_FALSE(again.ok);
  CHECK(again.refused == Reason::kInvalidTransition);
  CHECK(site.number("SELECT count(*) FROM attempts") == 1);
}

TEST_CASE("outcomes: a result under a claim that is gone changes nothing and is kept as late evidence") {
  LedgerSite site;
  const Hand hand = site.executing();
  auto late = site.finish_of({hand.seq, base::ClaimId::generate()}, Event::kConfirm, ResultWord::kApplied);
  late.evidence.http_status = 200;
  CHECK_FALSE(finish(site, late).finished.at(0));
  CHECK(site.state_of(hand.seq) == State::kExecuting);
  CHECK(site.number("SELECT count(*) FROM late_evidence") == 1);
  CHECK(site.text("SELECT claimed_state || http_status FROM late_evidence") == "SUCCEEDED200");
  CHECK(start(site, site.start_of({hand.seq, base::ClaimId::generate()})).refused == Reason::kStaleEpoch);
}

TEST_CASE("outcomes: n of the Idempotency-Key names one request: only one that never left lends its number") {
  LedgerSite site;
  Hand hand = site.claimed({.object_id = "o"});
  const auto begin = [&](bool found_absent) {
    auto one = site.start_of(hand, "x");
    one.found_absent = found_absent;
    return start(site, one);
  };
  CHECK(begin(false).repetition == 0);

  SECTION("no connection: nothing was sent") {
    auto unsent = site.finish_of(hand, Event::kRetry);
    unsent.counts_attempt = false;
    finish(site, unsent);
    hand = claim_again(site);
    auto given_back = site.finish_of(hand, Event::kRetry);  // claimed, and put back without a start
    given_back.counts_attempt = false;
    finish(site, given_back);
    hand = claim_again(site);
    CHECK(begin(false).repetition == 0);
    site.ended_by(site.finish_of(hand, Event::kConfirm, ResultWord::kApplied));
    CHECK(site.text("SELECT group_concat(repetition || state) FROM effects") == "0APPLIED");
  }
  SECTION("the answer was lost, and the read-back found it absent") {
    auto lost = site.finish_of(hand, Event::kRetry);
    lost.may_have_effect = true;
    finish(site, lost);
    CHECK(site.text("SELECT outcome FROM attempts") == "POSSIBLE");
    hand = claim_again(site);
    CHECK(begin(true).repetition == 1);
    CHECK(site.text("SELECT group_concat(outcome) FROM attempts") == "NONE");
    site.ended_by(site.finish_of(hand, Event::kConfirm, ResultWord::kApplied));
    CHECK(site.text("SELECT group_concat(repetition || state) FROM effects") == "0NONE,1APPLIED");
  }
  SECTION("the receiver said no for now, or the read-back in the same breath found other content") {
    finish(site, site.finish_of(hand, Event::kRetry));
    hand = claim_again(site);
    CHECK(begin(false).repetition == 1);
  }
  SECTION("the receiver said yes, and the content is not there: the next job's request is another one") {
    auto mismatch = site.finish_of(hand, Event::kLose, ResultWord::kUnknown);
    mismatch.reason = Reason::kVerifyMismatch;
    mismatch.may_have_effect = true;
    site.ended_by(mismatch);
    hand = site.claimed({.object_id = "o"});
    CHECK(begin(false).repetition == 1);
    CHECK(site.text("SELECT group_concat(repetition || state) FROM effects") == "0UNKNOWN,1POSSIBLE");
  }
  SECTION("it was applied, and is saved again after a drift") {
    site.ended_by(site.finish_of(hand, Event::kConfirm, ResultWord::kApplied));
    CHECK(value_of(site->effect_applied(site.start_of(hand, "x").effect_key)) == base::sha256("x"));
    CHECK(value_of(site->last_applied("o", "/app/vault/other.md"))->content_sha256 == base::sha256("x"));
    hand = site.claimed({.object_id = "o"});
    CHECK(begin(false).repetition == 1);
    CHECK(site.text("SELECT group_concat(repetition || state) FROM effects") == "0APPLIED,1POSSIBLE");
  }
}

TEST_CASE("outcomes: no second request while the first may have worked, unless a read-back found it absent (G2)") {
  LedgerSite site;
  const Hand first = site.executing();
  auto lost = site.finish_of(first, Event::kRetry);
  lost.may_have_effect = true;
  finish(site, lost);
  const Hand hand = claim_again(site);
  const auto refused = start(site, site.start_of(hand));
  CHECK(refused.refused == Reason::kInvalidTransition);
  CHECK(site.state_of(hand.seq) == State::kClaimed);
  CHECK(site.number("SELECT count(*) FROM attempts") == 1);
  CHECK(site.trail(hand.seq).ends_with("TRANSITION_REFUSED"));
}

TEST_CASE("outcomes: history names what was last applied to the object or to the path, by audit order") {
  LedgerSite site;
  const std::string a(40, 'a');
  const std::string b(40, 'b');
  CHECK_FALSE(value_of(site->effect_applied(base::sha256("none"))));
  CHECK_FALSE(value_of(site->last_applied("o", "/app/vault/p.md")));
  site.applied({.object_id = "o", .commit = a});
  CHECK(value_of(site->last_applied("o", "/app/vault/p.md"))->commit == a);
  site.applied({.path = "/app/vault/p.md", .commit = b});
  CHECK(value_of(site->last_applied("o", "/app/vault/p.md"))->commit == b);
  CHECK(value_of(site->last_applied("o", "/app/vault/q.md"))->commit == a);
}

TEST_CASE("outcomes: a retry that nothing left the machine for does not count, and one that did does") {
  LedgerSite site;
  Hand hand = site.executing();
  auto retry = site.finish_of(hand, Event::kRetry);
  retry.counts_attempt = false;
  finish(site, retry);
  CHECK(site.number("SELECT attempt_count FROM jobs") == 0);
  CHECK(site.text("SELECT outcome FROM attempts") == "NONE");
  hand = claim_again(site);
  CHECK(start(site, site.start_of(hand)).ok);
  finish(site, site.finish_of(hand, Event::kRetry));
  CHECK(site.number("SELECT attempt_count FROM jobs") == 1);
  CHECK(site.number("SELECT attempts FROM jobs") == 2);
}

TEST_CASE("outcomes: used-up attempts end the job in the commit of its last retry (J13 with J16 or J17)") {
  const bool possible = GENERATE(false, true);
  LedgerSite site;
  site.options.policy.attempts_max = 2;
  site.close();
  site.open();
  Hand hand = site.executing();
  auto retry = site.finish_of(hand, Event::kRetry);
  retry.may_have_effect = possible;
  CHECK(finish(site, retry).ended.empty());
  hand = claim_again(site);
  auto again = site.start_of(hand);
  again.found_absent = possible;
  REQUIRE(start(site, again).ok);
  auto last = site.finish_of(hand, Event::kRetry);
  last.may_have_effect = possible;
  const auto result = finish(site, last);
  REQUIRE(result.ended.size() == 1);
  const auto& receipt = result.ended[0].receipt;
  CHECK(receipt.reason == Reason::kRetriesExhausted);
  CHECK(receipt.state == (possible ? State::kUnknown : State::kFailed));
  CHECK(receipt.result == (possible ? ResultWord::kUnknown : ResultWord::kNoEffect));
  CHECK(receipt.attempts == 2);
  CHECK(result.ended[0].from == Ended::From::kLease);
  const std::string trail = site.trail(hand.seq);
  CHECK(trail.substr(trail.rfind("RETRY")) == (possible ? "RETRY:J13 OUTCOME:J17" : "RETRY:J13 OUTCOME:J16"));
}

TEST_CASE("outcomes: a retry past the deadline ends the job DEADLINE_EXCEEDED in the same commit") {
  LedgerSite site;
  const Hand hand = site.executing();
  site.clock.step_wall(std::chrono::hours{24});
  const auto result = finish(site, site.finish_of(hand, Event::kRetry));
  REQUIRE(result.ended.size() == 1);
  CHECK(result.ended[0].receipt.reason == Reason::kDeadlineExceeded);
  CHECK(result.ended[0].receipt.state == State::kFailed);
}

TEST_CASE("outcomes: time ends what waits: READY J04, RETRYABLE J16, and J17 where an effect is possible") {
  LedgerSite site;
  site.admit(site.job({.claim_now = false}));
  finish(site, site.finish_of(site.executing(), Event::kRetry));
  auto possible = site.finish_of(site.executing(), Event::kRetry);
  possible.may_have_effect = true;
  finish(site, possible);
  site.executing();
  CHECK(value_of(site->waiting()).next_deadline == site.clock.wall() + std::chrono::hours{24});
  ledger::Batch batch;
  batch.expire = true;
  CHECK(site.commit(batch).ended.empty());
  site.clock.step_wall(std::chrono::hours{24});
  const auto ended = site.commit(batch).ended;
  REQUIRE(ended.size() == 3);
  for (const auto& end : ended) {
    CHECK(end.receipt.reason == Reason::kDeadlineExceeded);
    CHECK(end.from == Ended::From::kCur);
  }
  CHECK(site.state_of(base::JobSeq{1}) == State::kRejected);
  CHECK(site.state_of(base::JobSeq{2}) == State::kFailed);
  CHECK(site.state_of(base::JobSeq{3}) == State::kUnknown);
  CHECK(site.state_of(base::JobSeq{4}) == State::kExecuting);
  CHECK(site.trail(base::JobSeq{1}) == "REQUESTED:J01 REJECTED:J04");
}

TEST_CASE("outcomes: a READY job with a possible effect that expires is unknown, not rejected (J20)") {
  LedgerSite site;
  site.admit(site.job({.claim_now = false}));
  value_of(site.sql().execute("UPDATE jobs SET may_have_effect = 1"));  // as after a rerun
  site.clock.step_wall(std::chrono::hours{24});
  ledger::Batch batch;
  batch.expire = true;
  const auto ended = site.commit(batch).ended;
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].receipt.state == State::kUnknown);
  CHECK(site.trail(base::JobSeq{1}) == "REQUESTED:J01 OUTCOME:J20");
}

TEST_CASE("outcomes: a waiting job that expires lets the next of its object go") {
  LedgerSite site;
  site.admit(site.job({.object_id = "o", .claim_now = false}));
  site.clock.step_wall(std::chrono::hours{23});
  site.admit(site.job({.object_id = "o", .claim_now = false}));
  site.clock.step_wall(std::chrono::hours{1});
  ledger::Batch batch;
  batch.expire = true;
  batch.claim_max = 5;
  const auto result = site.commit(batch);
  REQUIRE(result.ended.size() == 1);
  REQUIRE(result.claimed.size() == 1);
  CHECK(result.claimed[0].seq == base::JobSeq{2});
}

TEST_CASE("outcomes: a start refused for the lease leaves a VOID attempt, the job RETRYABLE, and no effect") {
  LedgerSite site;
  const Hand hand = site.claimed();
  site.clock.advance(kTtl);
  const auto one = site.start_of(hand);
  const auto refused = start(site, one);
  CHECK_FALSE(refused.ok);
  CHECK(refused.refused == Reason::kLeaseExpired);
  CHECK(site.state_of(hand.seq) == State::kRetryable);
  const auto attempts = value_of(site.reader()->attempts(hand.seq));
  REQUIRE(attempts.size() == 1);
  CHECK(attempts[0].attempt_id == one.attempt_id);
  CHECK(attempts[0].outcome == "VOID");
  CHECK(site.number("SELECT attempt_count FROM jobs") == 0);
  CHECK(site.number("SELECT may_have_effect FROM jobs") == 0);
  CHECK(site.number("SELECT count(*) FROM effects") == 0);
  CHECK(site.trail(hand.seq) == "REQUESTED:J01 CLAIMED:J03 STARTED:J05 RETRY:J13");
}

TEST_CASE("outcomes: a blocked gate starts nothing") {
  LedgerSite site;
  const Hand hand = site.claimed();
  value_of(site.sql().execute("UPDATE ledger SET gate = 'BLOCKED'"));
  CHECK(start(site, site.start_of(hand)).refused == Reason::kGateBlocked);
  CHECK(site.state_of(hand.seq) == State::kRetryable);
}

TEST_CASE("outcomes: a DELETE whose start is refused ends, and never waits again") {
  LedgerSite site(model::JobKind::kDelete);
  const Hand hand = site.claimed({.kind = model::JobKind::kDelete});
  site.clock.advance(kTtl);
  ledger::Batch batch;
  batch.starts.push_back(site.start_of(hand));
  const auto result = site.commit(batch);
  CHECK(result.started[0].refused == Reason::kLeaseExpired);
  REQUIRE(result.ended.size() == 1);
  CHECK(result.ended[0].receipt.state == State::kFailed);
  CHECK(site.state_of(hand.seq) == State::kFailed);
}

TEST_CASE("outcomes: a DELETE has no retry") {
  LedgerSite site(model::JobKind::kDelete);
  const Hand hand = site.executing({.kind = model::JobKind::kDelete});
  CHECK_FALSE(finish(site, site.finish_of(hand, Event::kRetry)).finished.at(0));
  CHECK(site.state_of(hand.seq) == State::kExecuting);
}

TEST_CASE("outcomes: the read-back of an uncertain attempt settles that attempt and its effect") {
  LedgerSite site;
  const Hand first = site.executing();
  auto retry = site.finish_of(first, Event::kRetry);
  retry.may_have_effect = true;
  finish(site, retry);
  const Hand again = claim_again(site);
  SECTION("EQUAL: it was applied") {
    auto done = site.finish_of(again, Event::kConfirm, ResultWord::kObservedApplied);
    site.ended_by(done);
    CHECK(site.text("SELECT state FROM effects") == "APPLIED");
    CHECK(site.text("SELECT outcome FROM attempts") == "APPLIED");
    CHECK(site.trail(first.seq).ends_with("CLAIMED:J15 STARTED:J05 EXECUTED:J09"));
  }
  SECTION("OTHER: it was not") {
    auto done = site.finish_of(again, Event::kNoEffect, ResultWord::kNoEffect);
    site.ended_by(done);
    CHECK(site.text("SELECT state FROM effects") == "NONE");
    CHECK(site.text("SELECT outcome FROM attempts") == "NONE");
  }
}
