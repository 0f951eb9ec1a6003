#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/escape.h"
#include "limits.h"
#include "model/excerpt.h"
#include "source/ancestry.h"
#include "source/object_store.h"
#include "source/source.h"
#include "source/tree_index.h"
#include "sys/dir.h"

namespace intray::source {
namespace {

using base::ErrorCode;
using model::Reason;

// "3 min": how old a fetch is, for a person.
std::string age_text(base::Micros age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 2 * 3600) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

std::string mode_text(git_filemode_t mode) {
  switch (mode) {
    case GIT_FILEMODE_TREE: return "a folder";
    case GIT_FILEMODE_LINK: return "a symbolic link";
    case GIT_FILEMODE_COMMIT: return "a submodule";
    case GIT_FILEMODE_BLOB_EXECUTABLE: return "an executable file (mode 100755)";
    default: return fmt::format("of mode {:06o}", static_cast<unsigned>(mode));
  }
}

class Repository final : public Source {
 public:
  Repository(ObjectStore store, const Options& options, const base::Clock& clock)
      : options_(options),
        clock_(clock),
        store_(std::move(store)),
        trees_(store_),
        ancestry_(store_.repository(), limits::kAncestryCommitsMax) {}

  Answer<void> refresh() override {
    usable_ = read_heads();
    return usable_;
  }

  Answer<void> commit_exists(const CommitHex& commit) override {
    INTRAY_TRY(root_of(commit));
    return {};
  }

  Answer<void> on_branch(const CommitHex& commit) override {
    INTRAY_TRY(heads());
    const git_oid id = INTRAY_TRY(id_of(commit));
    if (INTRAY_TRY(ancestry_.reaches(id))) return {};
    return refuse(Reason::kCommitNotOnBranch,
                  fmt::format("{} is neither the head nor an ancestor of {}", commit, branches_text()));
  }

  Answer<BlobHex> find_blob(const CommitHex& commit, std::string_view repository_path) override {
    const git_oid root = INTRAY_TRY(root_of(commit));
    const TreeIndex::Entry entry = INTRAY_TRY(trees_.find(root, repository_path));
    if (!entry.found) return refuse(Reason::kUnknownObject, fmt::format("in commit {}: {}", commit, entry.missing));
    if (entry.mode != GIT_FILEMODE_BLOB)
      return refuse(Reason::kUnknownObject,
                    fmt::format("in commit {}: {} is {}, not a regular file (mode 100644)", commit,
                                model::excerpt(repository_path), mode_text(entry.mode)));
    const auto header = INTRAY_TRY(store_.header(entry.id));
    if (!header)
      return refuse(Reason::kSourceUnavailable, "the repository is incomplete: it lacks blob " + to_hex(entry.id));
    if (std::cmp_greater(header->size_bytes, options_.content_bytes_max))
      return refuse(Reason::kContentTooLarge,
                    fmt::format("{} has {} bytes in commit {}, more than {}", model::excerpt(repository_path),
                                header->size_bytes, commit, options_.content_bytes_max));
    return to_hex(entry.id);
  }

  Answer<Blob> read_blob(const BlobHex& id) override {
    git_oid oid{};
    if (!parse_id(id, oid))
      return refuse(Reason::kUnknownObject, model::excerpt(id) + " is not the full id of a git object");
    return store_.blob(oid, options_.content_bytes_max);
  }

  Answer<std::optional<std::string>> colliding_path(const CommitHex& commit,
                                                    std::string_view repository_path) override {
    return trees_.colliding(INTRAY_TRY(root_of(commit)), repository_path);
  }

  Answer<std::vector<BlobHex>> blobs_at_heads(std::string_view repository_path) override {
    std::vector<BlobHex> out;
    for (const git_oid& head : INTRAY_TRY(heads())) {
      const git_oid root = INTRAY_TRY(store_.tree_of_commit(head));
      const TreeIndex::Entry entry = INTRAY_TRY(trees_.find(root, repository_path));
      if (!entry.found || (entry.mode != GIT_FILEMODE_BLOB && entry.mode != GIT_FILEMODE_BLOB_EXECUTABLE)) continue;
      out.push_back(to_hex(entry.id));
    }
    std::ranges::sort(out);
    const auto repeated = std::ranges::unique(out);
    out.erase(repeated.begin(), repeated.end());
    return out;
  }

  Answer<bool> is_strict_ancestor(const CommitHex& older, const CommitHex& newer) override {
    if (older == newer) return false;
    const git_oid older_id = INTRAY_TRY(id_of(older));
    const git_oid newer_id = INTRAY_TRY(id_of(newer));
    // A commit that rewritten history dropped and a clean-up removed is no authority any more, so nothing is behind it.
    if (!INTRAY_TRY(store_.header(newer_id))) return false;
    const int answer = git_graph_descendant_of(store_.repository(), &newer_id, &older_id);
    if (answer < 0) return unavailable(fmt::format("git can't tell whether {} is an ancestor of {}", older, newer));
    return answer == 1;
  }

  Answer<CommitHex> resolve(const std::string& revision) override {
    ObjectHandle found;
    ObjectHandle commit;
    if (make(found, git_revparse_single, store_.repository(), revision.c_str()) != 0 ||
        make(commit, git_object_peel, found.get(), GIT_OBJECT_COMMIT) != 0)
      return refuse(Reason::kUnknownCommit,
                    fmt::format("{} names no commit: {}", model::excerpt(revision), git_says()));
    return to_hex(*git_object_id(commit.get()));
  }

  Answer<std::vector<Entry>> list(const CommitHex& commit) override { return trees_.list(INTRAY_TRY(root_of(commit))); }

 private:
  static Answer<git_oid> id_of(const std::string& hex) {
    git_oid out{};
    if (parse_id(hex, out)) return out;
    return refuse(Reason::kUnknownCommit, model::excerpt(hex) + " is not a full, lower-case commit id of 40 digits");
  }

  Answer<git_oid> root_of(const CommitHex& commit) { return store_.tree_of_commit(INTRAY_TRY(id_of(commit))); }

  // What is asked about heads is answered only while the last refresh() could read them.
  Answer<std::vector<git_oid>> heads() {
    if (!refreshed_) INTRAY_TRY(refresh());
    if (!usable_) return std::unexpected(usable_.error());
    return heads_;
  }

  Answer<void> read_heads() {
    refreshed_ = true;
    INTRAY_TRY(check_age());
    std::vector<git_oid> now;
    for (const std::string& branch : options_.branches) {
      git_oid id{};
      if (git_reference_name_to_id(&id, store_.repository(), ("refs/heads/" + branch).c_str()) != 0)
        return no_head(branch);
      now.push_back(id);
    }
    std::ranges::sort(now, OidLess{});
    const auto repeated = std::ranges::unique(now, OidEqual{});
    now.erase(repeated.begin(), repeated.end());
    if (std::ranges::equal(now, heads_, OidEqual{})) return {};
    for (const git_oid& id : now) {
      const auto root = store_.tree_of_commit(id);
      if (!root)
        return refuse(Reason::kSourceUnavailable,
                      fmt::format("a head of {} can't be read: {}", branches_text(), root.error().detail));
    }
    ancestry_.set_heads(now);
    heads_ = std::move(now);
    return {};
  }

  std::unexpected<Refusal> no_head(const std::string& branch) const {
    const std::string reason = git_says();
    if (const auto directory = sys::Dir::open(store_.directory()); !directory)
      return refuse(Reason::kSourceUnavailable, "the repository is gone: " + base::escape(directory.error().what));
    return refuse(Reason::kSourceUnavailable,
                  fmt::format("the repository '{}' has no readable branch '{}': {}", base::escape(store_.directory()),
                              base::escape(branch), reason));
  }

  Answer<void> check_age() const {
    if (options_.max_age <= base::Micros{0}) return {};
    const auto stale = [&](const std::string& why) {
      return refuse(Reason::kSourceUnavailable,
                    fmt::format("the mirror '{}' {}", base::escape(store_.directory()), why));
    };
    const auto directory = sys::Dir::open(store_.directory());
    if (!directory) return stale("is gone: " + base::escape(directory.error().what));
    const auto fetched = directory->stat("FETCH_HEAD");
    if (!fetched && fetched.error().code == ErrorCode::kNotFound)
      return stale("was never fetched (no FETCH_HEAD), and source.max_age is set");
    if (!fetched) return stale("can't be judged: " + base::escape(fetched.error().what));
    const base::Micros age = clock_.wall() - fetched->modified_at;
    if (age > options_.max_age)
      return stale(fmt::format("was last fetched {} ago, more than source.max_age ({})", age_text(age),
                               age_text(options_.max_age)));
    // A clock that went back by more than the limit would keep an old mirror fresh for as long.
    if (-age > options_.max_age)
      return stale(fmt::format("was last fetched {} in the future: the clock is behind", age_text(-age)));
    return {};
  }

  std::string branches_text() const {
    std::string out = options_.branches.size() == 1 ? "branch" : "branches";
    for (const std::string& branch : options_.branches) out += " '" + base::escape(branch) + "'";
    return out;
  }

  Options options_;
  const base::Clock& clock_;
  ObjectStore store_;
  TreeIndex trees_;
  Ancestry ancestry_;
  std::vector<git_oid> heads_;  // of the last refresh() that succeeded; sorted, unique
  bool refreshed_ = false;
  Answer<void> usable_;
};

}  // namespace

base::Result<std::unique_ptr<Source>> Source::open(const Options& options, const base::Clock& clock) {
  if (options.object_format == model::ObjectFormat::kSha256)
    return base::fail(ErrorCode::kUnsupported,
                      "git.object_format is sha256: libgit2 " LIBGIT2_VERSION " reads SHA-1 repositories only");
  start_git();
  for (const std::string& branch : options.branches) {
    int valid = 0;
    if (git_reference_name_is_valid(&valid, ("refs/heads/" + branch).c_str()) != 0 || valid == 0)
      return base::fail(ErrorCode::kInvalid, "'" + base::escape(branch) + "' can't be the name of a branch");
  }
  ObjectStore store = INTRAY_TRY(ObjectStore::open(options.path, options.bare_only, options.owner_uid));
  return std::make_unique<Repository>(std::move(store), options, clock);
}

}  // namespace intray::source
