// Purpose:    reads receipts as they are appended, each line once, in every day file there is or comes to be.
// Process:    requesters and tools.
// Trust:      lines are the executor's; what is no receipt (a torn line among them) is counted and skipped.
// Thread use: one thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/receipt.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::inbox {

class ReceiptTail {
 public:
  // From the day of `since` (UTC) on. The directory is the requester's to read.
  ReceiptTail(sys::Dir dir, base::WallTime since) : dir_(std::move(dir)), since_(since) {}

  // Calls `each` for every receipt appended since the last call. The newest days stay open, not only the last one:
  // around midnight several workers, each by its own clock, may append to two files in turn.
  base::Result<void> read(const std::function<void(const model::Receipt&)>& each);
  int skipped() const { return skipped_; }
  const sys::Dir& dir() const { return dir_; }

 private:
  struct Day {
    sys::Fd file;      // none once newer days pushed it out
    std::string rest;  // of a line that is not complete yet
    bool too_long = false;
  };
  base::Result<void> drain(Day& day, const std::function<void(const model::Receipt&)>& each);
  void close_old_days();

  sys::Dir dir_;
  base::WallTime since_;
  std::map<std::string, Day> days_;  // by file name
  int skipped_ = 0;
};

}  // namespace intray::inbox
