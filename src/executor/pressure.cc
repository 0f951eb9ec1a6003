#include "executor/pressure.h"

#include <algorithm>
#include <utility>

namespace intray::executor {
namespace {

constexpr std::string_view kPerRequester = "limits.per_requester";
constexpr std::string_view kPerRequesterBytes = "limits.per_requester_bytes";
constexpr std::string_view kBacklog = "limits.backlog";
constexpr std::int64_t kQuarters = 4;

}  // namespace

void Pressure::say(bool over, std::uint32_t uid, const HeldBack& why, const Load& load) const {
  say_({.over = over,
        .limit = why.by_bytes ? kPerRequesterBytes : kPerRequester,
        .uid = uid,
        .count = why.by_bytes ? load.bytes : load.jobs});
}

void Pressure::recount(std::span<const ledger::OwnerCount> live) {
  for (auto& [uid, owner] : owners_) owner.load = {};
  for (const ledger::OwnerCount& count : live) of(count.owner_uid).load = {.jobs = count.jobs, .bytes = count.bytes};
  for (auto& [uid, owner] : owners_) let_go_where_possible(uid, owner);
  std::erase_if(owners_, [](const auto& entry) { return entry.second.load.jobs == 0 && !entry.second.held_back; });
}

bool Pressure::may_take(std::uint32_t uid, std::int64_t bytes) {
  Owner& owner = of(uid);
  if (owner.held_back) return false;
  // An owner with nothing in hand is never held back: its next file would have to wait for ever.
  const bool too_many = owner.load.jobs >= per_requester_.jobs;
  const bool too_much = owner.load.jobs > 0 && owner.load.bytes + bytes > per_requester_.bytes;
  if (too_many || too_much) {
    owner.held_back = HeldBack{.by_bytes = !too_many, .needed = bytes};
    say(true, uid, *owner.held_back, owner.load);
    return false;
  }
  add(uid, bytes);
  return true;
}

void Pressure::add(std::uint32_t uid, std::int64_t bytes) {
  Load& load = of(uid).load;
  ++load.jobs;
  load.bytes += bytes;
}

void Pressure::remove(std::uint32_t uid, std::int64_t bytes) {
  const auto found = owners_.find(uid);
  if (found == owners_.end()) return;
  Owner& owner = found->second;
  if (owner.load.jobs > 0) --owner.load.jobs;
  owner.load.bytes = owner.load.jobs == 0 ? 0 : std::max<std::int64_t>(0, owner.load.bytes - bytes);
  let_go_where_possible(uid, owner);
  if (owner.load.jobs == 0 && !owner.held_back) owners_.erase(found);
}

void Pressure::let_go_where_possible(std::uint32_t uid, Owner& owner) {
  if (!owner.held_back) return;
  const Load& most = per_requester_;
  const bool few = owner.load.jobs <= most.jobs - 1 - (most.jobs - 1) / kQuarters;
  const bool little = owner.load.jobs == 0 || (owner.load.bytes <= most.bytes - most.bytes / kQuarters &&
                                               owner.load.bytes + owner.held_back->needed <= most.bytes);
  if (!few || !little) return;
  const HeldBack why = *std::exchange(owner.held_back, std::nullopt);
  room_again_ = true;
  say(false, uid, why, owner.load);
}

bool Pressure::room_again() { return std::exchange(room_again_, false); }

void Pressure::set_backlog(std::int64_t files_in_new, std::int64_t waiting) {
  const bool over = files_in_new + waiting > backlog_;
  if (std::exchange(over_backlog_, over) == over) return;
  say_({.over = over, .limit = kBacklog, .uid = {}, .count = files_in_new + waiting});
}

}  // namespace intray::executor
