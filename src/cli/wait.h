// Purpose:    waits for the receipts of jobs that were handed over.
// Process:    the requester: receipts are all it may read.
// Trust:      a receipt answers for a job only by job_id and job_sha256 together.
// Thread use: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "cli/console.h"
#include "model/receipt.h"

namespace intray::cli {

class Wait {
 public:
  void add(const base::JobId& id, const base::Sha256& sha256, base::WallTime created);
  bool empty() const { return jobs_.empty(); }

  // Prints a line for each job as it ends and returns the exit code of the worst. `limit` from now; nullopt: as long as
  // it takes. Without read rights to the receipts: kUnreadable.
  int run(Console& console, const std::string& root, model::JobKind kind, std::optional<base::Micros> limit);

  // Takes a receipt into account; true where it is the first that answers for a job of ours.
  bool note(const model::Receipt& receipt);

 private:
  struct Pending {
    base::Sha256 sha256;
    std::optional<model::Receipt> receipt;
    bool printed = false;
  };
  void print_new(Console& console, bool brief);
  int verdict(Console& console) const;

  std::map<base::JobId, Pending> jobs_;
  std::int64_t ended_ = 0;
  base::WallTime oldest_ = base::WallTime::max();
};

// "30" (seconds), "90s", "5m".
std::optional<base::Micros> parse_wait(const std::string& text);

}  // namespace intray::cli
