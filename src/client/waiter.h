// Purpose:    waits for the receipts of jobs that were handed over.
// Process:    the requester: receipts are all it may read.
// Trust:      a receipt answers for a job only by job_id and job_sha256 together; of several, the one with the highest
//             audit_seq counts.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "inbox/receipt_tail.h"
#include "model/receipt.h"
#include "sys/change_watch.h"

namespace intray::client {

struct Awaited {
  base::Sha256 sha256;
  std::optional<model::Receipt> receipt;  // the one that counts so far
};

// add() all jobs, open(), then poll(), news() and pause() in turn until all have ended or the caller has waited
// enough. poll() reads each receipt once: a job added after open() is not answered by what was read before.
class Waiter {
 public:
  void add(const base::JobId& id, const base::Sha256& sha256, base::WallTime created);
  const std::map<base::JobId, Awaited>& jobs() const { return jobs_; }
  std::int64_t size() const { return static_cast<std::int64_t>(jobs_.size()); }
  std::int64_t ended() const { return ended_; }
  bool all_ended() const { return ended() == size(); }

  // The receipts of one inbox, from the day before the oldest job on. Without a watch it looks at intervals.
  base::Result<void> open(const std::string& root, model::JobKind kind);
  // Reads what was appended since. True where that answers for a job, or is a later word on one.
  base::Result<bool> poll();
  // Sleeps until there may be something to read: `at_most`, less where a watch says so or the next look is due.
  void pause(base::Micros at_most);
  // A receipt that came and was not dropped yet, each job's best, in the order of job ids; nullptr: no more. It lives
  // until the next call that changes something.
  const model::Receipt* news() const;
  void drop_news();

  // Takes a receipt into account; true where it is the first that answers for a job of ours.
  bool note(const model::Receipt& receipt);

 private:
  static constexpr base::Micros kPauseFirst = std::chrono::milliseconds{100};  // without events: doubles up to 2 s

  std::map<base::JobId, Awaited> jobs_;
  std::set<base::JobId> news_;
  std::int64_t ended_ = 0;
  base::WallTime oldest_ = base::WallTime::max();
  std::optional<inbox::ReceiptTail> tail_;
  sys::ChangeWatch watch_;
  base::Micros pause_ = kPauseFirst;
};

}  // namespace intray::client
