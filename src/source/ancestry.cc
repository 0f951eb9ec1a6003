#include "source/ancestry.h"

#include <algorithm>

#include "limits.h"

namespace intray::source {
namespace {

int push_all(git_revwalk* walk, const std::vector<git_oid>& ids) {
  for (const git_oid& id : ids)
    if (const int error = git_revwalk_push(walk, &id); error != 0) return error;
  return 0;
}

}  // namespace

Ancestry::Ancestry(git_repository* repository, std::size_t commits_max)
    : repository_(repository), commits_max_(commits_max), answers_(limits::kAncestryAnswersMax) {}

void Ancestry::forget() {
  reached_.clear();
  walk_.reset();
  begun_ = false;
  too_long_ = false;
  answers_.clear();
}

void Ancestry::set_heads(std::vector<git_oid> heads) {
  if (std::ranges::equal(heads, heads_, OidEqual{})) return;
  const bool keep = begun_ && !too_long_ && moved_forward(heads) && add_since_old_heads(heads);
  if (!keep) forget();
  heads_ = std::move(heads);
}

// Every old head is still reachable: then so is everything that was.
bool Ancestry::moved_forward(const std::vector<git_oid>& heads) const {
  return std::ranges::all_of(heads_, [&](const git_oid& old) {
    return std::ranges::any_of(heads, [&](const git_oid& head) { return OidEqual{}(head, old); }) ||
           git_graph_reachable_from_any(repository_, &old, heads.data(), heads.size()) == 1;
  });
}

// reach(new) is reach(old) and what the new heads reach beyond it; the old walk goes on for the rest of reach(old).
bool Ancestry::add_since_old_heads(const std::vector<git_oid>& heads) {
  RevwalkHandle walk;
  if (make(walk, git_revwalk_new, repository_) != 0 || push_all(walk.get(), heads) != 0) return false;
  for (const git_oid& old : heads_)
    if (git_revwalk_hide(walk.get(), &old) != 0) return false;
  git_oid next{};
  int error = 0;
  while ((error = git_revwalk_next(&next, walk.get())) == 0) {
    if (reached_.size() >= commits_max_) return false;
    reached_.insert(next);
  }
  return error == GIT_ITEROVER;
}

Answer<bool> Ancestry::reaches(const git_oid& commit) {
  if (std::ranges::any_of(heads_, [&](const git_oid& head) { return OidEqual{}(head, commit); })) return true;
  if (too_long_) return ask_git(commit);
  if (reached_.contains(commit)) return true;
  if (!begun_) {
    if (make(walk_, git_revwalk_new, repository_) != 0 || push_all(walk_.get(), heads_) != 0) return broken_history();
    begun_ = true;
  }
  while (walk_) {
    git_oid next{};
    const int error = git_revwalk_next(&next, walk_.get());
    if (error == GIT_ITEROVER) {
      walk_.reset();
    } else if (error != 0) {
      return broken_history();
    } else if (reached_.size() >= commits_max_) {
      forget();
      too_long_ = true;
      return ask_git(commit);
    } else {
      reached_.insert(next);
      if (OidEqual{}(next, commit)) return true;
    }
  }
  return false;
}

std::unexpected<Refusal> Ancestry::broken_history() {
  auto out = unavailable("the history of the configured branches can't be walked");
  forget();
  if (git_repository_is_shallow(repository_) == 1)
    return refuse(model::Reason::kSourceUnavailable,
                  out.error().detail + "; the repository is a shallow clone, fetch it whole");
  return out;
}

Answer<bool> Ancestry::ask_git(const git_oid& commit) {
  if (const bool* known = answers_.find(commit)) return *known;
  const int answer = git_graph_reachable_from_any(repository_, &commit, heads_.data(), heads_.size());
  if (answer < 0) return unavailable("git can't tell whether " + to_hex(commit) + " is on a configured branch");
  return answers_.insert(commit, answer == 1);
}

}  // namespace intray::source
