#include "ledger/sqlite/recovery.h"

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

ledger::Ledger::Recovered recover(LedgerSite& site) { return value_of(site->recover(site.held)); }

std::vector<ledger::JobRecord> claim_suspect(LedgerSite& site) {
  ledger::Batch batch;
  batch.claim_suspect = true;
  return site.commit(batch).claimed;
}

std::vector<ledger::JobRecord> claim_others(LedgerSite& site) {
  ledger::Batch batch;
  batch.claim_max = 100;
  return site.commit(batch).claimed;
}

void start(LedgerSite& site, const ledger::JobRecord& job) {
  ledger::Batch batch;
  batch.starts.push_back(site.start_of({job.seq, *job.claim_id}));
  REQUIRE(site.commit(batch).started.at(0).ok);
}

}  // namespace

TEST_CASE("recovery: a claimed job that was never tried goes back to READY, as a suspect (J06)") {
  LedgerSite site;
  const Hand hand = site.claimed();
  site.die_and_take_over();
  const auto recovered = recover(site);
  CHECK(recovered.back_to_waiting == 1);
  CHECK(recovered.to_verify.empty());
  CHECK(site.state_of(hand.seq) == State::kReady);
  CHECK(site.trail(hand.seq) == "REQUESTED:J01 CLAIMED:J03 RECOVERED:J06");
  CHECK(site.text("SELECT reason FROM audit WHERE event = 'RECOVERED'") == "WORKER_DIED");
  CHECK(value_of(site->waiting()).suspects == 1);
  CHECK(claim_others(site).empty());
  const auto alone = claim_suspect(site);
  REQUIRE(alone.size() == 1);
  CHECK(alone[0].suspect);
}

TEST_CASE("recovery: a claimed job that was tried before goes back to RETRYABLE (J07)") {
  LedgerSite site;
  const Hand hand = site.executing();
  ledger::Batch batch;
  batch.finishes.push_back(site.finish_of(hand, Event::kRetry));
  batch.claim_max = 1;
  REQUIRE(site.commit(batch).claimed.size() == 1);
  site.die_and_take_over();
  CHECK(recover(site).back_to_waiting == 1);
  CHECK(site.state_of(hand.seq) == State::kRetryable);
  CHECK(site.trail(hand.seq).ends_with("CLAIMED:J15 RECOVERED:J07"));
  CHECK(claim_suspect(site).size() == 1);
}

TEST_CASE("recovery: an executing job is taken over under a new claim and fence, to be read back (J14)") {
  LedgerSite site;
  const Hand hand = site.executing();
  site.die_and_take_over();
  const auto recovered = recover(site);
  REQUIRE(recovered.to_verify.size() == 1);
  const auto& job = recovered.to_verify[0];
  CHECK(job.state == State::kExecuting);
  CHECK(job.claim_id != hand.claim);
  CHECK(job.fence > base::Fence{1});
  CHECK(job.may_have_effect);
  CHECK(job.content_sha256);
  CHECK(site.trail(hand.seq).ends_with("ATTEMPT:J05 RECOVERED:J14"));
  // The read-back says: applied.
  const Ended ended =
      site.ended_by(site.finish_of({job.seq, *job.claim_id}, Event::kConfirm, ResultWord::kObservedApplied));
  CHECK(ended.receipt.state == State::kSucceeded);
  CHECK(site.text("SELECT state FROM effects") == "APPLIED");
  // The dead holder's own result comes too late.
  ledger::Batch late;
  late.finishes.push_back(site.finish_of(hand, Event::kConfirm, ResultWord::kApplied));
  CHECK_FALSE(site.commit(late).finished[0]);
}

TEST_CASE("recovery: it happens once, and touches only this slot's dead") {
  LedgerSite site;
  site.claimed();
  const auto peer = site.second();
  const auto theirs = site.hold(*peer, kSlot1);
  ledger::Batch batch;
  batch.admits.push_back(site.job());
  REQUIRE(value_of(peer->commit(theirs, batch)).admitted[0].job);
  site.die_and_take_over();
  CHECK(recover(site).back_to_waiting == 1);
  const auto again = recover(site);
  CHECK(again.back_to_waiting == 0);
  CHECK(again.to_verify.empty());
  CHECK(site.state_of(base::JobSeq{2}) == State::kClaimed);
}

TEST_CASE("recovery: the live holder's own jobs are not recovered") {
  LedgerSite site;
  const Hand hand = site.claimed();
  CHECK(recover(site).back_to_waiting == 0);
  CHECK(site.state_of(hand.seq) == State::kClaimed);
}

TEST_CASE("recovery: a DELETE is never claimed again because its worker died (J08, J12)") {
  const bool started = GENERATE(false, true);
  LedgerSite site(model::JobKind::kDelete);
  const JobSpec spec{.kind = model::JobKind::kDelete};
  const Hand hand = started ? site.executing(spec) : site.claimed(spec);
  site.die_and_take_over();
  const auto recovered = recover(site);
  CHECK(recovered.to_verify.empty());
  REQUIRE(recovered.ended.size() == 1);
  CHECK(recovered.ended[0].receipt.state == State::kUnknown);
  CHECK(recovered.ended[0].receipt.reason == Reason::kWorkerDied);
  CHECK(site.trail(hand.seq).ends_with(started ? "OUTCOME:J12" : "OUTCOME:J08"));
  CHECK(claim_others(site).empty());
  CHECK(claim_suspect(site).empty());
}

TEST_CASE("poison: the innocent of a dead batch are rerun alone and are not blamed") {
  LedgerSite site;
  for (int i = 0; i < 3; ++i) site.claimed();
  site.die_and_take_over();
  CHECK(recover(site).back_to_waiting == 3);
  CHECK(site.number("SELECT sum(claim_deaths) FROM jobs") == 0);
  for (int i = 1; i <= 3; ++i) {
    const auto alone = claim_suspect(site);
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].seq == base::JobSeq{i});
    site.ended_by(site.finish_of({alone[0].seq, *alone[0].claim_id}, Event::kConfirm, ResultWord::kAlreadyAtTarget));
  }
  CHECK(claim_suspect(site).empty());
  CHECK(value_of(site->waiting()).suspects == 0);
}

TEST_CASE("poison: a job never tried that kills its worker twice alone is REJECTED POISON_JOB (J05, J11)") {
  LedgerSite site;
  const Hand hand = site.claimed();
  site.die_and_take_over();
  recover(site);
  REQUIRE(claim_suspect(site).size() == 1);
  site.die_and_take_over();
  CHECK(recover(site).back_to_waiting == 1);
  CHECK(site.number("SELECT claim_deaths FROM jobs") == 1);
  REQUIRE(claim_suspect(site).size() == 1);
  site.die_and_take_over();
  const auto recovered = recover(site);
  REQUIRE(recovered.ended.size() == 1);
  CHECK(recovered.ended[0].receipt.state == State::kRejected);
  CHECK(recovered.ended[0].receipt.reason == Reason::kPoisonJob);
  CHECK(recovered.ended[0].from == Ended::From::kLease);
  CHECK(site.trail(hand.seq).ends_with("CLAIMED:J03 STARTED:J05 REJECTED:J11"));
}

TEST_CASE("poison: a job that was tried and kills its worker twice alone is OUTCOME_UNKNOWN POISON_JOB (J12)") {
  LedgerSite site;
  site.executing();
  site.executing();
  site.die_and_take_over();
  auto recovered = recover(site);
  REQUIRE(recovered.to_verify.size() == 2);
  // The read-back kills the worker as well: from the second death on they run alone.
  site.die_and_take_over();
  recovered = recover(site);
  CHECK(recovered.to_verify.empty());
  CHECK(recovered.back_to_waiting == 2);
  CHECK(site.trail(base::JobSeq{1}).ends_with("RECOVERED:J14 RECOVERED:J14 RETRY:J13"));
  CHECK(site.number("SELECT sum(may_have_effect) FROM jobs") == 2);
  for (int deaths = 1; deaths <= 2; ++deaths) {
    const auto alone = claim_suspect(site);
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].seq == base::JobSeq{1});
    site.die_and_take_over();
    recovered = recover(site);
  }
  REQUIRE(recovered.ended.size() == 1);
  CHECK(recovered.ended[0].receipt.state == State::kUnknown);
  CHECK(recovered.ended[0].receipt.reason == Reason::kPoisonJob);
  CHECK(claim_suspect(site).at(0).seq == base::JobSeq{2});
}

TEST_CASE("poison: a suspect that started alone and killed its worker is read back alone") {
  LedgerSite site;
  site.claimed();
  site.die_and_take_over();
  recover(site);
  start(site, claim_suspect(site).at(0));
  site.die_and_take_over();
  const auto recovered = recover(site);
  CHECK(recovered.back_to_waiting == 1);
  CHECK(site.number("SELECT claim_deaths FROM jobs") == 1);
  CHECK(site.state_of(base::JobSeq{1}) == State::kRetryable);
  CHECK(claim_suspect(site).at(0).may_have_effect);
}

TEST_CASE("poison: the followers of a poisoned job end as it did") {
  LedgerSite site;
  site.options.policy.solo_deaths_max = 1;
  site.close();
  site.open();
  const JobSpec spec{.key = base::IdempotencyKey::generate(), .object_id = "o", .path = "/app/vault/p.md"};
  site.claimed(spec);
  site.admit(site.job(spec));
  site.die_and_take_over();
  recover(site);
  REQUIRE(claim_suspect(site).size() == 1);
  site.die_and_take_over();
  const auto recovered = recover(site);
  REQUIRE(recovered.ended.size() == 2);
  CHECK(recovered.ended[1].receipt.result == ResultWord::kIdempotentReplay);
  CHECK(recovered.ended[1].receipt.reason == Reason::kPoisonJob);
}

TEST_CASE("recovery: a suspect that a living worker puts back is no suspect any more") {
  LedgerSite site;
  site.claimed();
  site.die_and_take_over();
  recover(site);
  const auto alone = claim_suspect(site).at(0);
  ledger::Batch batch;
  batch.finishes.push_back(site.finish_of({alone.seq, *alone.claim_id}, Event::kRetry));
  site.commit(batch);
  CHECK(value_of(site->waiting()).suspects == 0);
  CHECK(claim_others(site).size() == 1);
}
