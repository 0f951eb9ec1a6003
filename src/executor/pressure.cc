#include "executor/pressure.h"

#include <utility>

namespace intray::executor {
namespace {

constexpr std::string_view kPerRequester = "limits.per_requester";
constexpr std::string_view kBacklog = "limits.backlog";

}  // namespace

void Pressure::recount(std::span<const ledger::OwnerCount> live) {
  for (auto& [uid, owner] : owners_) owner.jobs = 0;
  for (const ledger::OwnerCount& count : live) of(count.owner_uid).jobs = count.jobs;
  for (auto& [uid, owner] : owners_) let_go_where_possible(uid, owner);
  std::erase_if(owners_, [](const auto& entry) { return entry.second.jobs == 0 && !entry.second.held_back; });
}

bool Pressure::may_take(std::uint32_t uid) {
  Owner& owner = of(uid);
  if (!owner.held_back && owner.jobs < per_requester_) {
    ++owner.jobs;
    return true;
  }
  if (!std::exchange(owner.held_back, true))
    say_({.over = true, .limit = kPerRequester, .uid = uid, .count = owner.jobs});
  return false;
}

void Pressure::remove(std::uint32_t uid) {
  const auto found = owners_.find(uid);
  if (found == owners_.end()) return;
  if (found->second.jobs > 0) --found->second.jobs;
  let_go_where_possible(uid, found->second);
  if (found->second.jobs == 0 && !found->second.held_back) owners_.erase(found);
}

void Pressure::let_go_where_possible(std::uint32_t uid, Owner& owner) {
  constexpr std::int64_t kQuarters = 4;
  if (!owner.held_back || owner.jobs > per_requester_ - 1 - (per_requester_ - 1) / kQuarters) return;
  owner.held_back = false;
  room_again_ = true;
  say_({.over = false, .limit = kPerRequester, .uid = uid, .count = owner.jobs});
}

bool Pressure::room_again() { return std::exchange(room_again_, false); }

void Pressure::set_backlog(std::int64_t files_in_new, std::int64_t waiting) {
  const bool over = files_in_new + waiting > backlog_;
  if (std::exchange(over_backlog_, over) == over) return;
  say_({.over = over, .limit = kBacklog, .uid = {}, .count = files_in_new + waiting});
}

}  // namespace intray::executor
