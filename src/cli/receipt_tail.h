// Purpose:    reads receipts as they are appended, each line once, day file after day file.
// Trust:      lines are the executor's; what is no receipt (a torn line among them) is counted and skipped.
// Thread use: one thread.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "model/receipt.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::cli {

class ReceiptTail {
 public:
  // From the day of `since` (UTC) on. The directory is the requester's to read.
  ReceiptTail(sys::Dir dir, base::WallTime since) : dir_(std::move(dir)), since_(since) {}

  // Calls `each` for every receipt appended since the last call.
  base::Result<void> read(const std::function<void(const model::Receipt&)>& each);
  int skipped() const { return skipped_; }
  const sys::Dir& dir() const { return dir_; }

 private:
  base::Result<bool> next_day();
  base::Result<void> drain(const std::function<void(const model::Receipt&)>& each);

  sys::Dir dir_;
  base::WallTime since_;
  std::string day_;  // name of the open file; "" before the first
  sys::Fd file_;
  std::string rest_;  // of a line that is not complete yet
  bool too_long_ = false;
  int skipped_ = 0;
};

}  // namespace intray::cli
