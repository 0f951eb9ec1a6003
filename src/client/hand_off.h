// Purpose:    what a requester is told of a hand-off, of one job or of many at once.
// Process:    the requester.
// Durability: inbox/handoff.h's: accepted means that file, rename and directory are on disk.
#pragma once

#include <span>
#include <vector>

#include "inbox/handoff.h"

namespace intray::client {

enum class HandOff {
  kAccepted,
  kAlready,      // this very job lay in new/ before
  kNotAccepted,  // nothing of it is left behind; the error says why
  kUnknown,      // visible, perhaps not durable: hand it over again
};
HandOff hand_off_of(const base::Result<void>& result);

// One result a job, in order, with one sync of new/.
std::vector<base::Result<void>> hand_over(const inbox::DropBox& box, std::span<const inbox::Parcel> jobs);

}  // namespace intray::client
