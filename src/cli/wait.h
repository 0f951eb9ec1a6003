// Purpose:    waits for jobs that were handed over, and tells how each ended.
// Process:    the requester (client/waiter.h).
// Thread use: one thread.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "cli/console.h"
#include "client/waiter.h"

namespace intray::cli {

class Wait {
 public:
  void add(const base::JobId& id, const base::Sha256& sha256, base::WallTime created);
  bool empty() const { return waiter_.size() == 0; }

  // Prints a line for each job as it ends and returns the exit code of the worst. `limit` from now; nullopt: as long as
  // it takes. Without read rights to the receipts: kUnreadable.
  int run(Console& console, const std::string& root, model::JobKind kind, std::optional<base::Micros> limit);

 private:
  void print_news(Console& console, bool brief);
  int verdict(Console& console) const;

  client::Waiter waiter_;
  std::set<base::JobId> printed_;
};

// "30" (seconds), "90s", "5m".
std::optional<base::Micros> parse_wait(const std::string& text);

}  // namespace intray::cli
