// Purpose:    the vault: a directory of notes. The only part of the receiver that touches it.
// Trust:      paths come from requests, checked by spelling only; every lookup is beneath the directory and refuses
//             symbolic links (openat2). Somebody who may write to the directory itself is trusted.
// Thread use: one thread.
// Durability: none by default, as with the public server; with `sync`, a note and its folders are on disk before save()
//             and remove() return.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vault-receiver/fd.h"

namespace intray::vault_receiver {

struct SearchHit {
  std::string relative;
  std::string title;  // the first "# " line, or the file's name without its extension
};

class VaultStore {
 public:
  // `dir` must exist. Makes the folder for half-written notes and empties it of what a killed receiver left.
  static base::Result<VaultStore> open(const std::string& dir, bool sync);

  // Writes aside, then renames: readers see the old note or the new one, never a part. Makes missing parent folders; an
  // existing symbolic link under the note's own name is replaced, not followed. After an error the note is as before;
  // new folders may stay. With `sync` an error of the last sync leaves the new note visible (kIo).
  // Errors: kDenied: the path meets a symbolic link or leaves the directory. Others as base::fail_errno.
  base::Result<void> save(const std::string& relative, std::string_view content);

  // Errors: kNotFound, kDenied as above; the note is then as before.
  base::Result<void> remove(const std::string& relative);

  // Errors: kNotFound (also for a folder or another thing that is not a regular file), kDenied as above, kInvalid (too
  // large).
  base::Result<std::string> read(const std::string& relative) const;

  // Notes whose path or content contains `query` (case of ASCII letters ignored), in path order, bounded by
  // kSearchHitsMax and kSearchFilesMax. Names that begin with a dot are skipped, as the public server does; unreadable
  // files too. An empty query finds nothing.
  std::vector<SearchHit> search(std::string_view query) const;

 private:
  VaultStore(Fd root, Fd tmp, bool sync) : root_(std::move(root)), tmp_(std::move(tmp)), sync_(sync) {}

  base::Result<Fd> open_parent(std::string_view relative, bool make) const;

  Fd root_;
  Fd tmp_;
  bool sync_ = false;
  std::uint64_t next_tmp_ = 0;
};

}  // namespace intray::vault_receiver
