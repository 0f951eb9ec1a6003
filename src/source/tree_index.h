// Purpose:    paths in the trees of commits: look-up by exact bytes, and other paths that a disk which ignores case
// would
//             take for the same.
// Thread use: one thread.
//
// What is kept is folders, by their tree id, and not commits: thousands of commits that differ in one note share all
// the others. Bounded by limits::kTreesKeptMax and kTreeEntriesKeptMax.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "source/object_store.h"

namespace intray::source {

class TreeIndex {
 public:
  explicit TreeIndex(ObjectStore& store);

  struct Entry {
    bool found = false;
    git_oid id{};
    git_filemode_t mode = GIT_FILEMODE_UNREADABLE;
    std::string missing;  // !found: which part of the path is not there or no folder, escaped
  };
  // Never follows anything. SOURCE_UNAVAILABLE where a tree on the way can't be read.
  Answer<Entry> find(const git_oid& root, std::string_view path);
  // A path other than this one, of any kind, with the same model::collision_key; nullopt: none.
  Answer<std::optional<std::string>> colliding(const git_oid& root, std::string_view path);
  // Every path that is no folder, in tree order.
  Answer<std::vector<Source::Entry>> list(const git_oid& root);

 private:
  struct Folder {
    TreeHandle tree;
    // (hash of the folded name, position in the tree), sorted; filled by the first question about collisions.
    std::vector<std::pair<std::size_t, std::size_t>> folded;
  };
  using FolderPtr = std::shared_ptr<Folder>;

  Answer<FolderPtr> folder(const git_oid& id);

  ObjectStore& store_;
  Lru<git_oid, FolderPtr, OidHash, OidEqual> folders_;
};

}  // namespace intray::source
