// Purpose:    the limits that hold back jobs before they are taken out of new/: limits.per_requester,
//             limits.per_requester_bytes and limits.backlog. Keeps the counts and says where one of them is reached or
//             left, once each time.
// Process:    executors.
// Trust:      owners and sizes are what the kernel says of a file, not what is in it.
// Thread use: one thread.
//
// A requester at its limit has its further files left in new/ until a quarter of the limit is free again, so that each
// look through new/ finds a good many. Beyond the backlog limit nothing is admitted only to wait: jobs that can run are
// taken and run, since nothing else makes a backlog smaller.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "ledger/types.h"

namespace intray::executor {

// What one requester may have waiting and under way, or what it has.
struct Load {
  std::int64_t jobs = 0;
  std::int64_t bytes = 0;  // of their files
};

class Pressure {
 public:
  struct Change {
    bool over = false;                 // reached; false: left again
    std::string_view limit;            // the setting's key
    std::optional<std::uint32_t> uid;  // whose, with the limits of a requester
    std::int64_t count = 0;            // jobs, bytes, or files and jobs
  };
  Pressure(Load per_requester, std::int64_t backlog, std::function<void(const Change&)> say)
      : per_requester_(per_requester), backlog_(backlog), say_(std::move(say)) {}

  // The truth about jobs that wait or run, all workers' included; replaces what was counted here.
  void recount(std::span<const ledger::OwnerCount> live);
  // Whether a file of this owner may be taken now; then it is counted as one of its jobs.
  bool may_take(std::uint32_t uid, std::int64_t bytes);
  // Taken outside of may_take(): a leftover, or a recount that came in between.
  void add(std::uint32_t uid, std::int64_t bytes);
  // The file of a job has another size than may_take() was told.
  void resize(std::uint32_t uid, std::int64_t from_bytes, std::int64_t to_bytes) {
    of(uid).load.bytes += to_bytes - from_bytes;
  }
  // A job of this owner ended, or its file was no new job after all.
  void remove(std::uint32_t uid, std::int64_t bytes);
  // True once after an owner that was held back has room again: its files in new/ are to be looked for.
  bool room_again();

  void set_backlog(std::int64_t files_in_new, std::int64_t waiting);
  bool over_backlog() const { return over_backlog_; }
  // How far counting files in new/ makes sense.
  std::int64_t backlog_limit() const { return backlog_; }

 private:
  struct HeldBack {
    bool by_bytes = false;    // by the number of jobs otherwise
    std::int64_t needed = 0;  // bytes of the file that was left in new/
  };
  struct Owner {
    Load load;
    std::optional<HeldBack> held_back;
  };
  Owner& of(std::uint32_t uid) { return owners_[uid]; }
  void let_go_where_possible(std::uint32_t uid, Owner& owner);
  void say(bool over, std::uint32_t uid, const HeldBack& why, const Load& load) const;

  Load per_requester_;
  std::int64_t backlog_;
  std::function<void(const Change&)> say_;
  std::unordered_map<std::uint32_t, Owner> owners_;  // as many as there are listed requesters, and a few strangers
  bool room_again_ = false;
  bool over_backlog_ = false;
};

}  // namespace intray::executor
