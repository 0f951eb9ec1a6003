#include "ledger/sqlite/receipts.h"

#include <catch2/catch.hpp>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using ledger::Ended;
using model::Event;
using model::Reason;
using model::ResultWord;

namespace {

std::vector<std::string> lines(const std::vector<Ended>& ends) {
  std::vector<std::string> out;
  for (const Ended& ended : ends) out.push_back(model::to_line(ended.receipt));
  return out;
}

// One end of every shape; their receipts in audit order.
std::vector<std::string> every_end(LedgerSite& site) {
  std::vector<Ended> ends;
  auto applied = site.finish_of(site.executing(), Event::kConfirm, ResultWord::kApplied);
  applied.evidence.http_status = 200;
  applied.evidence.observed_sha256 = base::sha256("seen");
  ends.push_back(site.ended_by(applied));
  auto failed = site.finish_of(site.executing(), Event::kNoEffect, ResultWord::kNoEffect);
  failed.reason = Reason::kReceiverRefused;
  failed.evidence.http_status = 422;
  failed.evidence.detail = "a \\x1b detail";
  ends.push_back(site.ended_by(failed));
  auto lost = site.finish_of(site.executing(), Event::kLose, ResultWord::kUnknown);
  lost.reason = Reason::kVerifyMismatch;
  lost.may_have_effect = true;
  lost.evidence.expected_sha256 = base::sha256("meant");
  lost.evidence.observed_sha256 = base::sha256("seen");
  ends.push_back(site.ended_by(lost));
  auto denied = site.finish_of(site.claimed(), Event::kDeny, ResultWord::kRefused);
  denied.reason = Reason::kStaleSource;
  ends.push_back(site.ended_by(denied));
  ends.push_back(*site.admit(site.bad_file()).ended);
  auto old = site.job();
  old.refusal = Reason::kJobTooOld;
  ends.push_back(*site.admit(old).ended);
  // A first job and its follower, in one commit.
  const JobSpec spec{.key = base::IdempotencyKey::generate(), .object_id = "o", .path = "/app/vault/p.md"};
  const Hand first = site.executing(spec);
  site.admit(site.job(spec));
  ledger::Batch batch;
  batch.finishes.push_back(site.finish_of(first, Event::kConfirm, ResultWord::kApplied));
  for (auto& ended : site.commit(batch).ended) ends.push_back(ended);
  // Time ends a waiting one.
  site.admit(site.job({.claim_now = false}));
  site.clock.step_wall(std::chrono::hours{24});
  ledger::Batch expire;
  expire.expire = true;
  for (auto& ended : site.commit(expire).ended) ends.push_back(ended);
  return lines(ends);
}

}  // namespace

TEST_CASE("receipts: after a crash every line is rebuilt byte for byte, in audit order") {
  LedgerSite site;
  const auto first_issued = every_end(site);
  REQUIRE(first_issued.size() == 9);
  CHECK(lines(value_of(site->unreceipted(100))) == first_issued);
  site.close();
  site.open();
  site.die_and_take_over();
  CHECK(lines(value_of(site->unreceipted(100))) == first_issued);
  CHECK(lines(value_of(site->unreceipted(4))) == std::vector(first_issued.begin(), first_issued.begin() + 4));
}

TEST_CASE("receipts: what the durable mark covers is owed no more, and the mark never goes back") {
  LedgerSite site;
  every_end(site);
  const auto owed = value_of(site->unreceipted(100));
  ledger::Batch batch;
  batch.receipts_through = owed[4].receipt.audit_seq;
  site.commit(batch);
  CHECK(value_of(site->unreceipted(100)).size() == owed.size() - 5);
  batch.receipts_through = owed[1].receipt.audit_seq;
  site.commit(batch);
  CHECK(value_of(site->unreceipted(100)).size() == owed.size() - 5);
  batch.receipts_through = owed.back().receipt.audit_seq;
  site.commit(batch);
  CHECK(value_of(site->unreceipted(100)).empty());
}

TEST_CASE("receipts: each slot owes its own, whoever holds it now") {
  LedgerSite site;
  const auto mine = site.applied();
  const auto peer = site.second();
  const auto theirs = site.hold(*peer, kSlot1);
  ledger::Batch batch;
  batch.admits.push_back(site.bad_file());
  const auto other = value_of(peer->commit(theirs, batch)).admitted[0].ended;
  CHECK(lines(value_of(site->unreceipted(10))) == std::vector{model::to_line(mine.receipt)});
  CHECK(lines(value_of(peer->unreceipted(10))) == std::vector{model::to_line(other->receipt)});
}

TEST_CASE("receipts: a duplicate of an ended job is answered again after a crash, one of a running job is not") {
  LedgerSite site;
  auto running = site.job();
  site.admit(running);
  running.take.value += 100;
  site.admit(running);
  auto file = site.job();
  file.refusal = Reason::kJobTooOld;
  const auto ended = *site.admit(file).ended;
  ledger::Batch batch;
  batch.receipts_through = ended.receipt.audit_seq;
  site.commit(batch);
  file.take.value += 100;
  site.admit(file);
  const auto owed = value_of(site->unreceipted(10));
  CHECK(lines(owed) == std::vector{model::to_line(ended.receipt)});
  CHECK(owed[0].from == Ended::From::kNowhere);
}

TEST_CASE("receipts: the end of a job can be asked for by its id") {
  LedgerSite site;
  const auto ended = site.applied();
  const auto found = value_of(site->find_end(*ended.receipt.job_id));
  REQUIRE(found);
  CHECK(model::to_line(found->receipt) == model::to_line(ended.receipt));
  CHECK_FALSE(value_of(site->find_end(base::JobId::generate())));
  const auto admitted = site.admit(site.job());
  CHECK_FALSE(value_of(site->find_end(admitted.job->facts.job_id)));
}
