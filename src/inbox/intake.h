// Purpose:    new/ to lease/<slot>/: take a file, then look inside; and everything a taken file may turn out to be.
// Process:    the executor.
// Trust:      everything in new/ is hostile: names, types, contents, and what happens to them meanwhile. No call
//             here blocks on or follows what a requester made. From read() on, only the bytes returned count.
// Thread use: one thread.
//
//   0. stat without following: what is not a regular file never reaches a lease
//   1. take: rename new/X to lease/<slot>/<take>.<deaths>.X; only one worker can win
//   2. open without following or blocking, fstat, refuse what is not an honest regular file of a listed requester
//   3. read at most limit+1 bytes, once
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "inbox/layout.h"
#include "inbox/names.h"
#include "model/reason.h"
#include "sys/inotify.h"

namespace intray::inbox {

// A file in lease/<slot>/, read.
struct TakenFile {
  LeaseName name;            // where it lies now
  std::string dropped_name;  // as the requester named it (raw bytes; equals name.job->str() where valid); of a .bad
                             // leftover its name in the lease, since nothing else is known
  std::uint32_t owner_uid = 0;
  base::WallTime taken_at;
  std::int64_t counted_bytes = 0;        // what may_take was told of its size
  std::string bytes;                     // empty where refused before reading
  std::optional<model::Reason> refused;  // why the file itself is bad: BAD_FILE_TYPE, OVERSIZED, EMPTY_FILE,
                                         // BAD_FILE_OWNER, UNREADABLE_FILE, BAD_FILE_NAME
  std::string detail;                    // of the refusal, escaped
};

// Something in new/ that never reaches a lease: audited, and unlinked unless a directory.
struct Stray {
  std::string dropped_name;
  std::uint32_t owner_uid = 0;
  std::string detail;  // "fifo", "symlink", "directory", …
  bool removed =
      false;  // false: a directory, or what could not be unlinked: recorded once by device and inode
              // (up to limits::kKnownStraysMax of them; later ones are not reported) and skipped from then on
};

struct TakeOutcome {
  std::vector<TakenFile> files;
  std::vector<Stray> strays;
  int held_back = 0;  // may_take said no: left in new/, to be found by a later scan
  int vanished = 0;  // a requester took it back, another worker won, or it was known both from an event and from a scan
};

class Intake {
 public:
  // takes: the first number of the lease's range (epoch * kTakesPerEpoch). requester_uids: who may own a job file.
  Intake(const Inbox& inbox, base::Slot slot, base::TakeNumber takes, std::set<std::uint32_t> requester_uids);

  // Names learnt from inotify; each is looked at for its owner, and waits in this owner's lane (lanes.h). Beyond the
  // owner's share of limits::kPendingNamesMax the names are dropped and a scan is due instead.
  void note(std::vector<std::string> names);
  // A full scan is due: at start, on overflow, on loss of the watch, on the slow timer.
  void rescan();
  // Whether take() may find something.
  bool pending() const;

  // Takes up to `max` files, of each owner in turn; of one owner noted names first, oldest first within the batch, then
  // from the running scan. Streams the directory; never starts over for a batch. Looks at no more than
  // kTakeExaminedPerFile names for each file asked for, so a call may return little though pending() stays true. Where
  // several requesters are listed and a scan takes more than one call, each further one also looks at up to
  // kScoutNamesPerTake names ahead of the scan, once through, so that nobody's first file waits for another's many.
  // An error is one of the directory itself (kIo, kNoSpace, kDenied, kBusy), returned only by a call that took nothing.
  // kDenied also where new/ or the lease was removed. Every file is then in new/, or in lease/<slot>/ and read by the
  // next call. After kNoSpace and kBusy all names are kept: call again when things look better. Names that failed by
  // themselves (kIo, kDenied) are left to the next scan.
  // may_take, where given, is asked once for each regular file just before it is taken, with its owner and its size (at
  // most limits::kJobFileBytesMax: no more is ever read); false leaves it in new/, and its name is forgotten until the
  // next scan.
  using MayTake = std::function<bool(std::uint32_t owner_uid, std::int64_t bytes)>;
  base::Result<TakeOutcome> take(std::size_t max, base::WallTime now, const MayTake& may_take = {});

  // What lies in lease/<slot>/ now (start-up recovery): every file, read like a taken one, in take order. What has no
  // name of a lease is none of ours: left alone and logged.
  base::Result<std::vector<TakenFile>> leftovers(base::WallTime now);
  // A leftover that killed its reader: deaths + 1 in its name, durably, before it is read again. kIo: renamed, perhaps
  // not durably; leftovers() says which name it has.
  base::Result<LeaseName> count_death(const LeaseName& name);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Removes files in tmp/ whose last change (the kernel's time, which a requester can't set) is older than `age`, at most
// limits::kStaleTmpRemovedMax a call; returns their names. Things that are no regular file are left alone and logged.
base::Result<std::vector<std::string>> remove_stale_tmp(const Inbox& inbox, base::WallTime now, base::Micros age);

}  // namespace intray::inbox
