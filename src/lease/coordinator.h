// Purpose:    mints execution grants: the only place that can.
// Trust:      a grant is worth nothing beyond this process, its own time to live, the lease it was minted under, and
// one use.
//             Whether this identity may hold the lease at all is the policy's (policy.h), asked before it is acquired.
// Thread use: one thread.
//
// When a grant is consumed, everything is looked at again: whether this is still the process that minted it, whether it
// was revoked, its expiry by boot time (which counts suspend), and the lease's row in the ledger.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/ids.h"
#include "lease/policy.h"
#include "limits.h"
#include "model/grant.h"

namespace intray::lease {

class Coordinator {
 public:
  // True while the lease's row says what it said at acquisition: same lease, connector, epoch and scopes, not expired,
  // not released. Rereads the row each time; an error counts as false.
  using LeaseStillStands = std::function<bool()>;

  // A time to live beyond limits::kGrantTimeToLiveMax_us is cut to it: settings only tighten. `clock` must outlive the
  // grants.
  Coordinator(LeaseStillStands lease_still_stands, const base::Clock& clock,
              base::Micros grant_time_to_live = base::Micros{limits::kGrantTimeToLiveDefault_us});

  // Never fails: a grant minted under a lease that does not stand refuses when it is consumed.
  model::Grant mint(const base::AttemptId& attempt);
  // Every grant so far is void, and so is every later one: the epoch is lost, or the worker stops.
  void revoke_all();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // grants keep it alive
};

}  // namespace intray::lease
