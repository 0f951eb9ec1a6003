// Purpose:    how many files lie in new/, counted in helpings, so that a million of them hold up nobody.
// Process:    executors.
// Trust:      names in new/ are a requester's and are only counted.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <optional>

#include "inbox/layout.h"

namespace intray::inbox {

class BacklogCount {
 public:
  // The inbox outlives the count.
  explicit BacklogCount(const Inbox& inbox) : inbox_(&inbox) {}

  // Counts up to `max` further names, beginning anew where no count is under way; no further than to `enough`. The
  // number once it is known. An error ends the count; the next call begins anew.
  base::Result<std::optional<std::int64_t>> step(std::size_t max, std::int64_t enough);

 private:
  const Inbox* inbox_;
  std::optional<sys::DirStream> stream_;
  std::int64_t counted_ = 0;
};

}  // namespace intray::inbox
