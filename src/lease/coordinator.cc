#include "lease/coordinator.h"

#include <algorithm>
#include <utility>

#include "sys/process.h"

namespace intray::lease {

struct Coordinator::Shared {
  LeaseStillStands lease_still_stands;
  const base::Clock* clock;
  base::Micros time_to_live;
  int process;
  bool revoked = false;

  // The row is read between two looks at the clock: a pause while it is read must not go unnoticed either.
  bool allows(base::BootTime expires_at) const {
    return !revoked && sys::process_id() == process && clock->boot() < expires_at && lease_still_stands &&
           lease_still_stands() && clock->boot() < expires_at;
  }
};

Coordinator::Coordinator(LeaseStillStands lease_still_stands, const base::Clock& clock, base::Micros grant_time_to_live)
    : shared_(std::make_shared<Shared>(
          Shared{.lease_still_stands = std::move(lease_still_stands),
                 .clock = &clock,
                 .time_to_live = std::min(grant_time_to_live, base::Micros{limits::kGrantTimeToLiveMax_us}),
                 .process = sys::process_id()})) {}

model::Grant Coordinator::mint(const base::AttemptId& attempt) {
  const base::BootTime expires_at = shared_->clock->boot() + shared_->time_to_live;
  return {attempt, [shared = shared_, expires_at] { return shared->allows(expires_at); }};
}

void Coordinator::revoke_all() { shared_->revoked = true; }

}  // namespace intray::lease
