// Purpose:    "is this commit on a branch?", answered in constant time after one walk of the history.
// Thread use: one thread.
//
// The commits reachable from the heads are collected as far as questions need them, newest first, once. When the heads
// move forward, only what is new is walked; when history was rewritten, everything is forgotten. Memory is bounded by
// limits::kAncestryCommitsMax; a longer history is asked libgit2 commit by commit, with the answers remembered.
#pragma once

#include <unordered_set>
#include <vector>

#include "source/git_handle.h"
#include "source/lru.h"

namespace intray::source {

class Ancestry {
 public:
  explicit Ancestry(git_repository* repository, std::size_t commits_max);

  // Sorted and unique; each an existing commit.
  void set_heads(std::vector<git_oid> heads);
  // True for a head and every ancestor of one. SOURCE_UNAVAILABLE: the history has a hole (a shallow clone) or can't be
  // read.
  Answer<bool> reaches(const git_oid& commit);

 private:
  using Oids = std::unordered_set<git_oid, OidHash, OidEqual>;

  bool moved_forward(const std::vector<git_oid>& heads) const;
  bool add_since_old_heads(const std::vector<git_oid>& heads);
  void forget();
  std::unexpected<Refusal> broken_history();
  Answer<bool> ask_git(const git_oid& commit);

  git_repository* repository_;
  std::size_t commits_max_;
  std::vector<git_oid> heads_;
  Oids reached_;
  RevwalkHandle walk_;  // the rest of the history; none: not begun, or at its end
  bool begun_ = false;
  bool too_long_ = false;
  Lru<git_oid, bool, OidHash, OidEqual> answers_;
};

}  // namespace intray::source
