// Purpose:    git as the authority: commits, ancestry, trees and blobs of a bare mirror, through libgit2.
// Process:    executors, read only; `intray submit save` on the requester's side.
// Trust:      the repository's contents are untrusted data; its history on the configured branches is the authority.
//             Nothing in it is executed, followed or written. Bounded by the content limit and limits.h (source).
// Thread use: one thread.
//
// Everything about branches is answered against the heads read by the last refresh(), so that a batch of jobs is judged
// against one state of the mirror; after a refresh() that failed it is SOURCE_UNAVAILABLE until one succeeds. An object
// that libgit2 does not find is "unknown" only where the whole repository could be read; else SOURCE_UNAVAILABLE.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "model/job.h"
#include "model/reason.h"

namespace intray::source {

struct Options {
  std::string path;                   // bare repository (tools: any repository, unless bare_only)
  std::vector<std::string> branches;  // short names; refs/heads/<name>
  model::ObjectFormat object_format = model::ObjectFormat::kSha1;
  base::Micros max_age{0};  // 0: the mirror is the origin, never stale
  std::int64_t content_bytes_max = 4 * 1024 * 1024;
  bool bare_only = false;  // executors: true
  // The only user besides root that may own the repository and write to it; none: this process's own user.
  std::optional<std::uint32_t> owner_uid{};
};

// Why git does not confirm a claim. SOURCE_UNAVAILABLE means "wait", everything else "no".
struct Refusal {
  model::Reason reason;
  std::string detail;  // escaped
};
template <class T>
using Answer = std::expected<T, Refusal>;

using CommitHex = std::string;  // full, lower-case
using BlobHex = std::string;

struct Blob {
  BlobHex id;
  std::string content;
};

class Source {
 public:
  // Makes no assumption about branches yet: refresh() reads them. The clock must outlive the source. A repository
  // opened before lock-down keeps working after fetches and repacks.
  // kInvalid: a branch name that can't be. kNotFound: no repository there. kDenied: it belongs neither to root nor
  // to whom `owner_uid` says ("dubious ownership"). kUnsupported: SHA-256 repositories need a newer libgit2.
  // kUnavailable: unreadable.
  static base::Result<std::unique_ptr<Source>> open(const Options& options, const base::Clock& clock);
  virtual ~Source() = default;

  // Rereads the heads of the configured branches and the age of the last fetch. SOURCE_UNAVAILABLE: stale, unreadable,
  // or a configured branch is missing. Cheap enough for every batch: a few file reads.
  virtual Answer<void> refresh() = 0;

  // Gate 1: a commit object with exactly this id exists (full, lower-case hex). UNKNOWN_COMMIT, SOURCE_UNAVAILABLE.
  virtual Answer<void> commit_exists(const CommitHex& commit) = 0;
  // Gate 2: head or ancestor of a configured branch. COMMIT_NOT_ON_BRANCH. Cached per set of heads.
  virtual Answer<void> on_branch(const CommitHex& commit) = 0;
  // Gate 3: the blob at this repository path of the commit's own tree: found by exact bytes, regular file of mode
  // 100644, no symlink or submodule on the way. UNKNOWN_OBJECT. Content over the limit: CONTENT_TOO_LARGE.
  // UNKNOWN_COMMIT.
  virtual Answer<BlobHex> find_blob(const CommitHex& commit, std::string_view repository_path) = 0;
  // The id must come from find_blob() or blobs_at_heads(): a blob that is not there is a hole in the repository,
  // SOURCE_UNAVAILABLE. CONTENT_TOO_LARGE.
  virtual Answer<Blob> read_blob(const BlobHex& id) = 0;
  // Another path of the same tree (file, folder or link) that folds to the same collision key, raw bytes, if any. Looks
  // into the folders on the way and their other spellings only, cached by folder.
  virtual Answer<std::optional<std::string>> colliding_path(const CommitHex& commit,
                                                            std::string_view repository_path) = 0;
  // The blob ids at this path at each configured head that has a file there, 100644 or 100755, each once (empty: git
  // has deleted it everywhere, or put something else in its place).
  virtual Answer<std::vector<BlobHex>> blobs_at_heads(std::string_view repository_path) = 0;
  // True where `older` is an ancestor of `newer` and not the same. False where git has no object `newer` (any more):
  // nothing is behind a commit that rewritten history dropped.
  virtual Answer<bool> is_strict_ancestor(const CommitHex& older, const CommitHex& newer) = 0;
  // Full id of a revision expression (tools only): "HEAD", a branch, an abbreviated id.
  virtual Answer<CommitHex> resolve(const std::string& revision) = 0;
  // Every path of the commit's tree with its mode, in tree order (tools and the demo): blobs, symlinks, submodules.
  struct Entry {
    std::string path;
    std::uint32_t mode = 0;
  };
  virtual Answer<std::vector<Entry>> list(const CommitHex& commit) = 0;
};

// ---- what a note says about itself ----

// Scalar values of the front matter's top-level keys.
struct FrontMatter {
  bool present = false;   // the note begins with a `---` line
  bool readable = false;  // it ends with one, and is a plain YAML mapping within the bounds (no aliases, anchors, tags,
                          // directives, repeated keys); false wherever present is false
  // Values of the two keys; nullopt where the key is missing or has no value. A value that is no scalar is "", which is
  // neither an object id nor a state word.
  std::optional<std::string> id;
  std::optional<std::string> state;
};
// Never crashes or hangs, whatever the note holds. YAML through libfyaml, bounded in size, depth and node count.
FrontMatter read_front_matter(std::string_view note, std::string_view id_key, std::string_view state_key);

// Why a note's content may not be sent. `own_credential` is empty on the requester's side.
class ContentRules {
 public:
  // patterns: regular expressions in RE2's syntax (Perl's and ECMAScript's without look-around and back-references, so
  // that a search takes linear time whatever the note holds), searched line by line. kInvalid names a bad one, or one
  // that matches an empty line.
  static base::Result<ContentRules> compile(const std::vector<std::string>& patterns);
  // CONTENT_NOT_TEXT, SECRET_DETECTED (never quotes the secret: says which rule and which line). Lines end with LF, CR
  // or both. One thread at a time.
  std::optional<Refusal> check(std::string_view content, std::string_view own_credential) const;
  ContentRules(ContentRules&&) noexcept;
  ContentRules& operator=(ContentRules&&) noexcept;
  ~ContentRules();

 private:
  struct Impl;
  explicit ContentRules(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What a SAVE job must claim for this note, by the site's rules: object id, state word, provenance.
struct NoteFacts {
  std::string object_id;  // empty where it should come from front matter and no valid object id is there
  std::string state;      // "UNSET", "OTHER" or the word
  base::Sha256 content_sha256;
};
struct NoteRules {
  bool id_from_front_matter = false;
  std::string id_key = "id";
  std::string state_key = "status";
};
NoteFacts describe_note(std::string_view content, std::string_view repository_path, const NoteRules& rules);

}  // namespace intray::source
