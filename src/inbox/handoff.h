// Purpose:    how a requester hands jobs over: tmp/ to new/, durably, at most once.
// Process:    the requester (intray submit, client libraries).
// Trust:      runs with the requester's rights; the executor believes none of it.
// Durability: "submitted" is said only after (3): file content (1), the rename (2) and the directory (3) are on disk.
//
//   (1) create tmp/<name> exclusively, fchmod 0644, write, fsync   crash: an orphan in tmp/
//   (2) renameat2(tmp/<name>, new/<name>, RENAME_NOREPLACE)        crash before (3): the rename may be undone
//   (3) fsync new/                                                 now the job survives power loss (G7)
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "inbox/layout.h"
#include "inbox/names.h"

namespace intray::inbox {

struct Parcel {
  JobName name;
  std::string bytes;  // canonical
};

// kExists: this very job was handed over already and lies in new/, durably; nothing changed. kOutcomeUnknown: visible
// in new/, perhaps not durable (or the disk fails so thoroughly that it can't be asked): hand it over again. Any other
// error: not accepted, and tmp/ holds nothing of it (best effort); kBusy: a file with other bytes has its name in new/
// (another requester's, or what a crash left of an earlier attempt); the executor takes it soon, then try again.
//
// What an attempt that was cut off left in tmp/ is no obstacle: this one then works in tmp/<name>.2 (.3, …), and the
// executor removes the other when it is stale. Of two attempts at once, one wins the rename; the other gets kExists.
base::Result<void> hand_over(const DropBox& box, const Parcel& parcel);

// The same for many with one sync of new/; files are synced by up to `threads` threads at once. One result per parcel,
// in order. If the sync of new/ fails, every renamed one is kOutcomeUnknown. Where no thread can be started, fewer do
// the work. The threads have ended when it returns.
std::vector<base::Result<void>> hand_over_batch(const DropBox& box, std::span<const Parcel> parcels, int threads);

}  // namespace intray::inbox
