#include "inbox/lanes.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ranges>
#include <utility>

#include "limits.h"

namespace intray::inbox {
namespace {

constexpr int kBacklogTurn = 4;  // while names keep coming in, every fourth of a lane is one that lay there before

// Each lane's names, wherever they stand in the batch, in their order: by age where they are valid.
void sort_within_lanes(std::vector<Lanes::Name>& names) {
  std::map<std::size_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i].lane].push_back(i);
  for (const auto& [lane, of_lane] : places) {
    std::vector<Lanes::Name> sorted;
    sorted.reserve(of_lane.size());
    for (const std::size_t place : of_lane) sorted.push_back(std::move(names[place]));
    std::ranges::sort(sorted, {}, &Lanes::Name::name);
    for (std::size_t i = 0; i < sorted.size(); ++i) names[of_lane[i]] = std::move(sorted[i]);
  }
}

}  // namespace

Lanes::Lanes(const std::set<std::uint32_t>& requester_uids) : lanes_(requester_uids.size() + 1) {
  std::size_t lane = 0;
  for (const std::uint32_t uid : requester_uids) lane_of_[uid] = ++lane;
  share_ = std::max(limits::kLaneNamesMin, limits::kPendingNamesMax / lanes_.size());
}

bool Lanes::add(std::uint32_t owner_uid, std::string name, From from) {
  const auto listed = lane_of_.find(owner_uid);
  const std::size_t number = listed == lane_of_.end() ? 0 : listed->second;
  Lane& lane = lanes_[number];
  if (from != From::kScan && lane.names[index(from)].size() >= share_) {
    lane.more = lane.more || from == From::kScout;
    return false;
  }
  if (lane.empty()) turns_.push_back(number);
  lane.names[index(from)].push_back(std::move(name));
  if (from == From::kScan) ++scanned_;
  return true;
}

Lanes::Name Lanes::pop(std::size_t lane_number) {
  Lane& lane = lanes_[lane_number];
  const bool backlog = ++lane.turn % kBacklogTurn == 0;
  const std::array<From, 3> order = backlog ? std::array{From::kScan, From::kScout, From::kEvent}
                                            : std::array{From::kEvent, From::kScan, From::kScout};
  for (const From from : order) {
    auto& names = lane.names[index(from)];
    if (names.empty()) continue;
    Name out{.name = std::move(names.front()), .lane = lane_number, .from = from};
    names.pop_front();
    if (from == From::kScan) --scanned_;
    return out;
  }
  std::abort();  // a lane in turns_ holds names
}

std::vector<Lanes::Name> Lanes::next(std::size_t max) {
  std::vector<Name> out;
  while (out.size() < max && !turns_.empty()) {
    const std::size_t number = turns_.front();
    turns_.pop_front();
    out.push_back(pop(number));
    if (!lanes_[number].empty()) turns_.push_back(number);
  }
  sort_within_lanes(out);
  return out;
}

void Lanes::put_back(std::span<Name> names) {
  for (Name& name : std::views::reverse(names)) {
    Lane& lane = lanes_[name.lane];
    std::erase(turns_, name.lane);  // put_back() is rare, a failing disk
    turns_.push_front(name.lane);
    if (name.from == From::kScan) ++scanned_;
    lane.names[index(name.from)].push_front(std::move(name.name));
  }
}

void Lanes::scout_begins() {
  for (Lane& lane : lanes_) lane.more = false;
}

bool Lanes::scout_wanted() const {
  return std::any_of(std::next(lanes_.begin()), lanes_.end(),
                     [](const Lane& lane) { return lane.more && lane.empty(); });
}

}  // namespace intray::inbox
