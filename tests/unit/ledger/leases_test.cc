#include "ledger/sqlite/leases.h"

#include <catch2/catch.hpp>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using ledger::HeldLease;
using model::Event;
using model::Reason;
using model::ResultWord;

namespace {

const base::WorkerId kOther = *base::WorkerId::parse("11111111-1111-4111-8111-111111111111");

Reason refused_acquire(LedgerSite& site, const ledger::Identity& who = kSlot0) {
  const auto decision = value_of(site->acquire(who, kOther, "claim", kTtl));
  REQUIRE_FALSE(decision);
  return decision.error().reason;
}

std::string last_audit(LedgerSite& site) {
  return site.text(
      "SELECT event || ' ' || outcome || ' ' || coalesce(reason, '') FROM lease_audit ORDER BY seq DESC LIMIT 1");
}

}  // namespace

TEST_CASE("leases: acquire inserts only: held is LEASE_HELD, expired or released is TAKEOVER_REQUIRED") {
  LedgerSite site;
  CHECK(site.held.epoch == base::Epoch{1});
  CHECK(refused_acquire(site) == Reason::kLeaseHeld);
  CHECK(last_audit(site) == "LEASE_REFUSED REFUSED LEASE_HELD");
  SECTION("expired") {
    site.clock.advance(kTtl);
    CHECK(refused_acquire(site) == Reason::kTakeoverRequired);
  }
  SECTION("released") {
    REQUIRE(value_of(site->release(site.held)));
    CHECK(last_audit(site) == "LEASE_RELEASED GRANTED ");
    CHECK(refused_acquire(site) == Reason::kTakeoverRequired);
  }
  CHECK(value_of(site->lease(kSlot0))->epoch == base::Epoch{1});
}

TEST_CASE("leases: takeover swaps on the epoch, never takes an active lease, and draws the next epoch of all slots") {
  LedgerSite site;
  const auto take = [&](base::Epoch epoch) { return value_of(site->takeover(kSlot0, epoch, kOther, "claim", kTtl)); };
  CHECK(take(site.held.epoch).error().reason == Reason::kLeaseHeld);
  CHECK(take(base::Epoch{7}).error().reason == Reason::kEpochMismatch);
  CHECK(site.hold(kSlot1).epoch == base::Epoch{2});
  site.clock.advance(kTtl);
  CHECK(take(base::Epoch{7}).error().reason == Reason::kEpochMismatch);
  const auto taken = take(base::Epoch{1});
  REQUIRE(taken);
  CHECK(taken->epoch == base::Epoch{3});
  CHECK(taken->lease_id != site.held.lease_id);
  CHECK(last_audit(site) == "LEASE_TAKEOVER GRANTED ");
  CHECK(take(base::Epoch{1}).error().reason == Reason::kEpochMismatch);
  CHECK_FALSE(value_of(site->takeover({"site", "save", "save/9"}, base::Epoch{1}, kOther, "claim", kTtl)));
}

TEST_CASE("leases: a heartbeat needs every part of the holding, and a lease that still runs") {
  LedgerSite site;
  site.clock.advance(std::chrono::seconds{10});
  const auto renewed = value_of(site->heartbeat(site.held, kTtl));
  REQUIRE(renewed);
  CHECK(renewed->expires_boot == site.clock.boot() + kTtl);
  const auto refused = [&](const HeldLease& held) {
    const auto decision = value_of(site->heartbeat(held, kTtl));
    REQUIRE_FALSE(decision);
    CHECK(last_audit(site).starts_with("LEASE_HEARTBEAT_REFUSED REFUSED"));
    return decision.error().reason;
  };
  HeldLease wrong = *renewed;
  wrong.epoch.value += 1;
  CHECK(refused(wrong) == Reason::kStaleLease);
  wrong = *renewed;
  wrong.connector_id = kOther;
  CHECK(refused(wrong) == Reason::kStaleLease);
  wrong = *renewed;
  wrong.lease_id = base::LeaseId::generate();
  CHECK(refused(wrong) == Reason::kStaleLease);
  wrong = *renewed;
  wrong.identity.tenant = "elsewhere";
  CHECK(refused(wrong) == Reason::kStaleLease);
  site.clock.advance(kTtl);
  CHECK(refused(*renewed) == Reason::kLeaseExpired);
}

TEST_CASE("leases: a heartbeat renews the leases of the jobs in hand") {
  LedgerSite site;
  site.claimed();
  const auto before = site.number("SELECT lease_until FROM jobs");
  site.clock.advance(std::chrono::seconds{5});
  REQUIRE(value_of(site->heartbeat(site.held, kTtl)));
  CHECK(site.number("SELECT lease_until FROM jobs") == before + 5'000'000);
}

TEST_CASE("leases: release needs the same match, once") {
  LedgerSite site;
  HeldLease wrong = site.held;
  wrong.lease_id = base::LeaseId::generate();
  CHECK(value_of(site->release(wrong)).error().reason == Reason::kStaleLease);
  CHECK(value_of(site->release(site.held)));
  CHECK(value_of(site->release(site.held)).error().reason == Reason::kStaleLease);
}

TEST_CASE("leases: wall-clock jumps neither end nor save a lease; a reboot ends it") {
  LedgerSite site;
  site.clock.step_wall(std::chrono::hours{100});
  CHECK(site->still_holds(site.held));
  CHECK(refused_acquire(site) == Reason::kLeaseHeld);
  site.clock.step_wall(-std::chrono::hours{200});
  site.clock.advance(kTtl);
  CHECK_FALSE(site->still_holds(site.held));
  site.held = site.hold();
  site.close();
  site.options.boot_id = "boot-2";
  site.open();
  CHECK_FALSE(site->still_holds(site.held));
  CHECK(refused_acquire(site) == Reason::kTakeoverRequired);
}

TEST_CASE("leases: at most five minutes, more than nothing, and only of this ledger's kind") {
  LedgerSite site;
  const auto ask = [&](const ledger::Identity& who, base::Micros ttl) {
    return site->acquire(who, kOther, "claim", ttl);
  };
  CHECK(ask(kSlot1, std::chrono::minutes{5} + base::Micros{1}).error().code == base::ErrorCode::kInvalid);
  CHECK(ask(kSlot1, base::Micros{0}).error().code == base::ErrorCode::kInvalid);
  CHECK(ask({"site", "delete", "delete/0"}, kTtl).error().code == base::ErrorCode::kInvalid);
  CHECK(value_of(ask(kSlot1, std::chrono::minutes{5})));
}

TEST_CASE("fencing: a holder whose epoch is over changes no state and starts nothing; what it saw is kept") {
  LedgerSite site;
  const Hand hand = site.executing();
  const Hand other = site.claimed();
  const HeldLease stale = site.held;
  site.die_and_take_over();
  const auto audit_rows = site.number("SELECT count(*) FROM audit");

  CHECK_FALSE(site->still_holds(stale));
  ledger::Batch batch;
  batch.finishes.push_back(site.finish_of(hand, Event::kConfirm, ResultWord::kApplied));
  batch.starts.push_back(site.start_of(other));
  batch.admits.push_back(site.job());
  batch.claim_max = 5;
  const auto result = site->commit(stale, batch);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == base::ErrorCode::kStale);
  CHECK(site.number("SELECT count(*) FROM late_evidence") == 1);
  CHECK(site.number("SELECT count(*) FROM jobs") == 2);
  CHECK(site.number("SELECT count(*) FROM attempts") == 1);
  CHECK(site.number("SELECT count(*) FROM audit") == audit_rows);
  CHECK(site->recover(stale).error().code == base::ErrorCode::kStale);
  CHECK(site->note(stale, "STRAY", "").error().code == base::ErrorCode::kStale);
}

TEST_CASE("fencing: an outcome that comes after the lease ran out, but before a takeover, still counts") {
  LedgerSite site;
  const Hand hand = site.executing();
  site.clock.advance(kTtl * 2);
  CHECK(site.ended_by(site.finish_of(hand, Event::kConfirm, ResultWord::kApplied)).receipt.state ==
        model::State::kSucceeded);
}

TEST_CASE("leases: two processes of two slots write one ledger, each under its own epoch") {
  LedgerSite site;
  const auto peer = site.second();
  const HeldLease theirs = site.hold(*peer, kSlot1);
  ledger::Batch mine;
  mine.admits.push_back(site.job({.object_id = "shared"}));
  ledger::Batch second;
  second.admits.push_back(site.job({.object_id = "shared"}));
  second.admits.push_back(site.job());
  CHECK(site.commit(mine).admitted[0].admission == ledger::Admission::kClaimed);
  const auto result = value_of(peer->commit(theirs, second));
  CHECK(result.admitted[0].admission == ledger::Admission::kReady);
  CHECK(result.admitted[1].admission == ledger::Admission::kClaimed);
  CHECK(result.admitted[1].job->fence == base::Fence{2});
  // Neither can finish what the other holds.
  ledger::Batch wrong;
  wrong.finishes.push_back(site.finish_of({result.admitted[1].job->seq, *result.admitted[1].job->claim_id},
                                          Event::kDeny, ResultWord::kRefused));
  CHECK_FALSE(site.commit(wrong).finished[0]);
  CHECK_FALSE(value_of(site.reader()->verify_chain()).broken_at);
}
