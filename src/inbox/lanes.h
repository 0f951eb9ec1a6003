// Purpose:    names of new/ that wait to be taken, a lane for each listed requester and one for everybody else, served
//             in turn: however many files one owner has dropped, another's first is among the next few.
// Process:    the executor.
// Trust:      names are a requester's; owners are what the kernel said a moment ago, and are looked at again later.
// Thread use: one thread.
//
// Bounded: a lane holds its share of limits::kPendingNamesMax from events, and as many from the scout; from the scan it
// holds what its caller puts in, which is little (scanned() says how much).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace intray::inbox {

class Lanes {
 public:
  // Where a name comes from: an event; the running scan; the scout, which runs ahead of the scan.
  enum class From { kEvent, kScan, kScout };
  struct Name {
    std::string name;
    std::size_t lane = 0;
    From from = From::kEvent;
  };

  explicit Lanes(const std::set<std::uint32_t>& requester_uids);

  // False: the lane has its share from there, and the name is not kept. Never so with kScan.
  bool add(std::uint32_t owner_uid, std::string name, From from);
  // The next up to `max` names: one of each lane in turn, and of each lane oldest first. In a lane events come first,
  // but for every fourth name: what lay in new/ before must move as well.
  std::vector<Name> next(std::size_t max);
  // Names that next() gave, to be given again before others.
  void put_back(std::span<Name> names);

  bool empty() const { return turns_.empty(); }
  std::size_t scanned() const { return scanned_; }  // from the scan, held now
  // Whether there is anybody for whom a scout is worth its while.
  bool several_requesters() const { return lane_of_.size() > 1; }
  // A scout sets out: whom it brings more of than fits is remembered from now on.
  void scout_begins();
  // Whether a requester of whom it could not keep all has nothing left here.
  bool scout_wanted() const;

 private:
  struct Lane {
    std::array<std::deque<std::string>, 3> names;  // by From
    bool more = false;                             // the scout saw some that did not fit
    int turn = 0;
    bool empty() const { return names[0].empty() && names[1].empty() && names[2].empty(); }
  };
  static std::size_t index(From from) { return static_cast<std::size_t>(from); }
  Name pop(std::size_t lane_number);

  std::map<std::uint32_t, std::size_t> lane_of_;  // of the listed; lane 0 is everybody else's
  std::vector<Lane> lanes_;
  std::deque<std::size_t> turns_;  // lanes that hold names, the next one first
  std::size_t share_ = 0;
  std::size_t scanned_ = 0;
};

}  // namespace intray::inbox
