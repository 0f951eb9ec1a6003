#include "ledger/sqlite/claims.h"

#include <catch2/catch.hpp>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using ledger::Admission;
using model::Event;
using model::ResultWord;
using model::State;

namespace {

std::vector<std::int64_t> claim_up_to(LedgerSite& site, int max) {
  ledger::Batch batch;
  batch.claim_max = max;
  std::vector<std::int64_t> seqs;
  for (const auto& job : site.commit(batch).claimed) {
    CHECK(job.state == State::kClaimed);
    CHECK(job.claim_id);
    seqs.push_back(job.seq.value);
  }
  return seqs;
}

ledger::Finish retry_of(LedgerSite& site, const Hand& hand, base::Micros wait) {
  auto retry = site.finish_of(hand, Event::kRetry);
  retry.not_before = site.clock.wall() + wait;
  return retry;
}

void finish(LedgerSite& site, const ledger::Finish& one) {
  ledger::Batch batch;
  batch.finishes.push_back(one);
  REQUIRE(site.commit(batch).finished.at(0));
}

using Seqs = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("claims: waiting jobs are claimed in admission order, at most as many as asked for") {
  LedgerSite site;
  for (int i = 0; i < 5; ++i) site.admit(site.job({.claim_now = false}));
  CHECK(claim_up_to(site, 2) == Seqs{1, 2});
  CHECK(claim_up_to(site, 10) == Seqs{3, 4, 5});
  CHECK(claim_up_to(site, 10).empty());
}

TEST_CASE("claims: each claim has a claim id of its own and the next fence") {
  LedgerSite site;
  const Hand one = site.claimed();
  const Hand two = site.claimed();
  CHECK(one.claim != two.claim);
  CHECK(site.number("SELECT group_concat(fence, '') FROM jobs") == 12);
  finish(site, retry_of(site, one, base::Micros{0}));
  CHECK(claim_up_to(site, 1) == Seqs{1});
  CHECK(site.number("SELECT fence FROM jobs WHERE seq = 1") == 3);
  CHECK(site.number("SELECT fence FROM ledger") == 3);
}

TEST_CASE("claims: jobs of one object or one path run one after the other, in admission order") {
  const bool by_object = GENERATE(true, false);
  LedgerSite site;
  const JobSpec spec = by_object ? JobSpec{.object_id = "same"} : JobSpec{.path = "/app/vault/same.md"};
  const Hand first = site.claimed(spec);
  CHECK(site.admit(site.job(spec)).admission == Admission::kReady);
  CHECK(site.admit(site.job(spec)).admission == Admission::kReady);
  CHECK(claim_up_to(site, 10).empty());
  site.ended_by(site.finish_of(first, Event::kConfirm, ResultWord::kAlreadyAtTarget));
  CHECK(claim_up_to(site, 10) == Seqs{2});
  CHECK(claim_up_to(site, 10).empty());
}

TEST_CASE("claims: a job that shares its object with one and its path with another waits for both") {
  LedgerSite site;
  const Hand by_object = site.claimed({.object_id = "o"});
  const Hand by_path = site.claimed({.path = "/app/vault/p.md"});
  CHECK(site.admit(site.job({.object_id = "o", .path = "/app/vault/p.md"})).admission == Admission::kReady);
  const bool object_first = GENERATE(true, false);
  site.ended_by(site.finish_of(object_first ? by_object : by_path, Event::kConfirm, ResultWord::kAlreadyAtTarget));
  CHECK(claim_up_to(site, 10).empty());
  site.ended_by(site.finish_of(object_first ? by_path : by_object, Event::kConfirm, ResultWord::kAlreadyAtTarget));
  CHECK(claim_up_to(site, 10) == Seqs{3});
}

TEST_CASE("claims: an earlier READY job of the object goes first, even before a new one that could run at once") {
  LedgerSite site;
  site.admit(site.job({.object_id = "same", .claim_now = false}));
  CHECK(site.admit(site.job({.object_id = "same", .claim_now = true})).admission == Admission::kReady);
  CHECK(claim_up_to(site, 10) == Seqs{1});
}

TEST_CASE("claims: EXECUTING and RETRYABLE block others of their object, a RETRYABLE one not itself") {
  LedgerSite site;
  const JobSpec spec{.object_id = "same"};
  const Hand first = site.executing(spec);
  CHECK(site.admit(site.job(spec)).admission == Admission::kReady);
  CHECK(claim_up_to(site, 10).empty());
  finish(site, retry_of(site, first, std::chrono::seconds{5}));
  CHECK(claim_up_to(site, 10).empty());
  site.clock.advance(std::chrono::seconds{5});
  CHECK(claim_up_to(site, 10) == Seqs{1});
}

TEST_CASE("claims: a retry waits for its time and says when it is due") {
  LedgerSite site;
  finish(site, retry_of(site, site.claimed(), std::chrono::seconds{3}));
  ledger::Batch batch;
  batch.claim_max = 1;
  const auto result = site.commit(batch);
  CHECK(result.claimed.empty());
  CHECK(result.next_due == site.clock.wall() + std::chrono::seconds{3});
  CHECK(value_of(site->waiting()).next_due == result.next_due);
  CHECK(value_of(site->waiting()).retryable == 1);
  site.clock.advance(std::chrono::seconds{3});
  CHECK(claim_up_to(site, 1) == Seqs{1});
  CHECK(site.trail(base::JobSeq{1}) == "REQUESTED:J01 CLAIMED:J03 STARTED:J05 RETRY:J13 CLAIMED:J15");
}

TEST_CASE("claims: due retries and ready jobs are taken together, the oldest first") {
  LedgerSite site;
  const Hand one = site.claimed();
  site.admit(site.job({.claim_now = false}));
  const Hand three = site.claimed();
  finish(site, retry_of(site, three, base::Micros{0}));
  finish(site, retry_of(site, one, base::Micros{0}));
  CHECK(claim_up_to(site, 2) == Seqs{1, 2});
  CHECK(claim_up_to(site, 2) == Seqs{3});
}

TEST_CASE("claims: an unknown SAVE locks its object and path only for its settle time") {
  LedgerSite site;
  const Hand first = site.executing({.object_id = "o", .path = "/app/vault/p.md"});
  auto lost = site.finish_of(first, Event::kLose, ResultWord::kUnknown);
  lost.may_have_effect = true;
  lost.settle_until = site.clock.wall() + std::chrono::seconds{10};
  finish(site, lost);
  CHECK(site.admit(site.job({.object_id = "o"})).admission == Admission::kReady);
  CHECK(site.admit(site.job({.path = "/app/vault/p.md"})).admission == Admission::kReady);
  CHECK(site.admit(site.job()).admission == Admission::kClaimed);
  ledger::Batch batch;
  batch.claim_max = 10;
  const auto early = site.commit(batch);
  CHECK(early.claimed.empty());
  CHECK(early.next_due == lost.settle_until);
  site.clock.advance(std::chrono::seconds{10});
  CHECK(claim_up_to(site, 10) == Seqs{2, 3});
}

TEST_CASE("claims: a settling job at the head holds nobody else up") {
  LedgerSite site;
  const Hand first = site.executing({.object_id = "o"});
  auto lost = site.finish_of(first, Event::kLose, ResultWord::kUnknown);
  lost.may_have_effect = true;
  lost.settle_until = site.clock.wall() + std::chrono::seconds{10};
  finish(site, lost);
  site.admit(site.job({.object_id = "o", .claim_now = false}));
  for (int i = 0; i < 4; ++i) site.admit(site.job({.claim_now = false}));
  CHECK(claim_up_to(site, 1) == Seqs{3});
  CHECK(claim_up_to(site, 2) == Seqs{4, 5});
}

TEST_CASE("claims: an unknown DELETE keeps later ones of its object waiting") {
  LedgerSite site(model::JobKind::kDelete);
  const Hand first = site.executing({.object_id = "o", .kind = model::JobKind::kDelete});
  auto lost = site.finish_of(first, Event::kLose, ResultWord::kUnknown);
  lost.may_have_effect = true;
  finish(site, lost);
  CHECK(site.admit(site.job({.object_id = "o", .kind = model::JobKind::kDelete})).admission == Admission::kReady);
  CHECK(claim_up_to(site, 10).empty());
}

TEST_CASE("claims: a thousand jobs of one object: each is found without looking at the others") {
  LedgerSite site;
  ledger::Batch batch;
  for (int i = 0; i < 1000; ++i) batch.admits.push_back(site.job({.object_id = "hot", .claim_now = false}));
  batch.admits.push_back(site.job({.claim_now = false}));
  site.commit(batch);
  CHECK(site.number("SELECT count(*) FROM jobs WHERE state = 'READY' AND behind IS NULL") == 2);
  CHECK(claim_up_to(site, 10) == Seqs{1, 1001});
  const Hand first{base::JobSeq{1}, *base::ClaimId::from_bytes(site.text("SELECT claim_id FROM jobs WHERE seq = 1"))};
  site.ended_by(site.finish_of(first, Event::kConfirm, ResultWord::kAlreadyAtTarget));
  CHECK(claim_up_to(site, 10) == Seqs{2});
  CHECK(value_of(site->waiting()).ready == 998);
}

TEST_CASE("claims: a job past its deadline ends where it would have been claimed") {
  LedgerSite site;
  site.admit(site.job({.claim_now = false}));
  site.clock.step_wall(std::chrono::hours{24});
  ledger::Batch batch;
  batch.claim_max = 1;
  const auto result = site.commit(batch);
  CHECK(result.claimed.empty());
  REQUIRE(result.ended.size() == 1);
  CHECK(result.ended[0].receipt.reason == model::Reason::kDeadlineExceeded);
}

TEST_CASE("claims: nothing is claimed under a lease that has run out") {
  LedgerSite site;
  site.admit(site.job({.claim_now = false}));
  site.clock.advance(kTtl);
  ledger::Batch batch;
  batch.claim_max = 1;
  batch.admits.push_back(site.job());
  const auto result = site.commit(batch);
  CHECK(result.claimed.empty());
  CHECK(result.admitted[0].admission == Admission::kReady);
}
