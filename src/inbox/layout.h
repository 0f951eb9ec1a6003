// Purpose:    the tree of one inbox: which directories there are, with which owners and modes; making, opening and
// checking it. Process:    `intray init` makes it; requesters open tmp/ and new/; an executor opens everything before
// it works. Trust:      the tree is root's and the executor's; only tmp/ and new/ are writable by a requester. Thread
// use: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "model/state.h"
#include "sys/dir.h"

namespace intray::inbox {

struct Owners {
  std::uint32_t executor_uid = 0;
  std::uint32_t requester_gid = 0;  // intray-rq
  std::uint32_t admin_gid = 0;      // intray-adm
  std::uint32_t root_uid = 0;       // owner of the tree itself
  std::uint32_t root_gid = 0;
  bool user_mode = false;  // all of them one user's; directories 0700, files 0600
};

// One directory of the tree as it must be.
struct Place {
  std::string name;  // "new", "lease/0"
  std::uint32_t uid;
  std::uint32_t gid;
  std::uint32_t mode;
};
std::vector<Place> plan(const Owners& owners, int slots);

// Makes what is missing under root/<kind>/, sets owner and mode of what it made, lock and holder files of each slot
// included; never widens the mode of what exists. kDenied with one line per problem where something existing is wrong.
base::Result<void> make(const std::string& root, model::JobKind kind, const Owners& owners, int slots);

// What `make` would find wrong, one clear line each: missing, wrong owner, wrong mode, an ACL, another mount, a
// network filesystem. Warnings: a filesystem on which G7 is not claimed.
struct CheckReport {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};
CheckReport check(const std::string& root, model::JobKind kind, const Owners& owners, int slots);

// The requester's side.
struct DropBox {
  sys::Dir tmp;
  sys::Dir fresh;  // new/
  static base::Result<DropBox> open(const std::string& root, model::JobKind kind);
};

// The executor's side, all open before the work starts.
struct Inbox {
  sys::Dir tmp;
  sys::Dir fresh;  // new/
  sys::Dir cur;
  sys::Dir lease;               // lease/ itself: lock and holder files
  std::vector<sys::Dir> slots;  // lease/<n>/
  sys::Dir done;
  sys::Dir failed;
  sys::Dir rejected;
  sys::Dir unknown;
  sys::Dir receipts;
  std::uint32_t file_mode = 0640;  // 0600 in user mode
  static base::Result<Inbox> open(const std::string& root, model::JobKind kind, int slots, bool user_mode);
  const sys::Dir& place_of(model::State state) const;  // final and unknown states; READY and RETRYABLE: cur
};

std::string ledger_path(const std::string& root, model::JobKind kind);  // <root>/<kind>/ledger/ledger.db

}  // namespace intray::inbox
