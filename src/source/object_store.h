// Purpose:    one opened repository: typed, bounded reads of commits, trees and blobs, and the difference between "git
//             does not have it" and "git can't be read just now".
// Trust:      the repository belongs to this process's user or to root, or to the user named in `owner_uid`
// (decisions/0016),
//             or it is not opened (git: "dubious ownership").
//             Its objects are untrusted: an object over its bound is refused unread; libgit2 checks each one's hash.
// Thread use: one thread.
#pragma once

#include <optional>
#include <string>

#include "source/git_handle.h"
#include "source/lru.h"

namespace intray::source {

class ObjectStore {
 public:
  // A bare repository, or (not bare_only) a work tree's. kNotFound, kDenied, kUnavailable, kUnsupported (SHA-256).
  static base::Result<ObjectStore> open(const std::string& path, bool bare_only,
                                        std::optional<std::uint32_t> owner_uid = std::nullopt);

  git_repository* repository() const { return repository_.get(); }
  const std::string& directory() const { return directory_; }  // the real path, for messages and FETCH_HEAD

  struct Header {
    git_object_t type = GIT_OBJECT_INVALID;
    std::size_t size_bytes = 0;
  };
  // nullopt: the repository can be read as a whole and has no such object. SOURCE_UNAVAILABLE: it can't, or not this
  // one.
  Answer<std::optional<Header>> header(const git_oid& id);
  // Root tree of a commit. UNKNOWN_COMMIT: no such object, or another kind of object. Remembered.
  Answer<git_oid> tree_of_commit(const git_oid& commit);
  // The objects that a readable commit leads to; one that is missing is SOURCE_UNAVAILABLE.
  Answer<TreeHandle> tree(const git_oid& id);
  Answer<Blob> blob(const git_oid& id, std::int64_t content_bytes_max);

 private:
  ObjectStore(RepositoryHandle repository, OdbHandle odb, std::string directory);
  // Why a missing object says nothing: the directory is gone, or files in it can't be opened.
  std::optional<std::string> why_unreadable(const git_oid& missing) const;

  RepositoryHandle repository_;
  OdbHandle odb_;
  std::string directory_;
  Lru<git_oid, git_oid, OidHash, OidEqual> tree_of_commit_;
};

}  // namespace intray::source
