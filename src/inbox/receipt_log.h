// Purpose:    receipts/<YYYY-MM-DD>.jsonl: appending as the executor, reading as a requester.
// Process:    the executor writes; requesters and tools read.
// Trust:      lines are the executor's own; readers parse strictly and skip a torn last line.
// Durability: append() is one write; sync() makes everything appended so far durable. The caller moves its mark only
// after sync().
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/receipt.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::inbox {

std::string day_file(base::WallTime time);  // "2026-11-30.jsonl", its UTC day
bool is_day_file(std::string_view name);    // such a name, of a real day

class ReceiptWriter {
 public:
  ReceiptWriter(const sys::Dir& receipts, std::uint32_t file_mode);
  // One O_APPEND write of all lines to the file of `now`'s UTC day; starts a fresh line first where the file's last one
  // is torn. An error: an unknown part was appended; append the same lines again later (readers skip what they know).
  base::Result<void> append(std::span<const std::string> lines, base::WallTime now);
  bool dirty() const;
  // fdatasync, and fsync of the directory after a new day's file. An error (of append's, too, which syncs the former
  // day's file first): what was appended since the last success counts for nothing; append it again, from the mark.
  base::Result<void> sync();

 private:
  base::Result<void> open_day(const std::string& day);

  const sys::Dir* dir_;
  std::uint32_t mode_;
  std::string day_;
  sys::Fd file_;
  sys::Fd tail_;  // the same file, for reading
  bool dirty_ = false;
  bool new_name_ = false;
};

// Calls `each` for every readable receipt of the days from `since` (its whole UTC day) on, oldest first; counts lines
// that are no receipt. An unfinished last line is being written or torn, and isn't counted.
base::Result<int> read_receipts(const sys::Dir& receipts, base::WallTime since,
                                const std::function<void(const model::Receipt&)>& each);

// The receipt with the highest audit_seq for job_id and job_sha256, if any.
base::Result<std::optional<model::Receipt>> find_receipt(const sys::Dir& receipts, base::WallTime since,
                                                         const base::JobId& job_id, const base::Sha256& job_sha256);

}  // namespace intray::inbox
