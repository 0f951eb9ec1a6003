#include "source/object_store.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/escape.h"
#include "limits.h"
#include "sys/dir.h"
#include "sys/process.h"

namespace intray::source {
namespace {

using base::ErrorCode;

std::string_view type_word(git_object_t type) {
  switch (type) {
    case GIT_OBJECT_COMMIT: return "a commit";
    case GIT_OBJECT_TREE: return "a tree";
    case GIT_OBJECT_BLOB: return "a blob";
    case GIT_OBJECT_TAG: return "a tag";
    default: return "no object of git";
  }
}

std::unexpected<base::Error> dubious(const std::string& path, const std::string& what) {
  return base::fail(ErrorCode::kDenied, fmt::format("dubious ownership: '{}' {}, because whoever can write there "
                                                    "decides what it says",
                                                    base::escape(path), what));
}

// A repository that a third user keeps: everything that says what is in it is that user's or root's, is no link to
// elsewhere, and nobody else can write to it. Objects need no look of their own: libgit2 checks each against its id.
base::Result<void> check_named_owner(const sys::Dir& dir, std::uint32_t owner) {
  const auto check = [owner](const std::string& path, const sys::FileInfo& info) -> base::Result<void> {
    if (info.type != sys::FileType::kDirectory && info.type != sys::FileType::kRegular)
      return dubious(path, "must be a file or directory");
    if (info.uid != owner && info.uid != 0)
      return dubious(path, fmt::format("belongs to uid {} and must belong to uid {} (git.mirror_owner) or to root",
                                       info.uid, owner));
    if ((info.mode & 0022U) != 0)
      return dubious(path, fmt::format("must not be writable by others (mode {:04o})", info.mode));
    return {};
  };
  const sys::FileInfo self = INTRAY_TRY(dir.stat_self());
  INTRAY_TRY(check(dir.path(), self));
  for (const char* const name : {"HEAD", "config", "objects", "refs", "packed-refs"}) {
    const auto info = dir.stat(name);
    if (!info && info.error().code == ErrorCode::kNotFound) continue;  // git makes do without some of them
    if (!info) return std::unexpected(info.error());
    INTRAY_TRY(check(dir.path() + "/" + name, *info));
  }
  const sys::Dir refs = INTRAY_TRY(dir.open_subdir("refs"));
  const auto heads = refs.stat("heads");
  return heads ? check(refs.path() + "/heads", *heads) : base::Result<void>{};
}

// What git calls dubious ownership. libgit2 judges only repositories with a work tree, and takes root's for dubious; so
// the rule is ours: whoever may write there decides what is authoritative, and that is the admin and this user, or the
// one user whom the admin named; nobody else.
base::Result<void> check_owner(const std::string& path, std::optional<std::uint32_t> owner) {
  const sys::Dir dir = INTRAY_TRY(sys::Dir::open(path));
  if (owner) return check_named_owner(dir, *owner);
  const sys::FileInfo info = INTRAY_TRY(dir.stat_self());
  const std::uint32_t self = sys::effective_uid();
  if (info.uid == self || info.uid == 0) return {};
  return dubious(path, fmt::format("belongs to uid {}, this process runs as uid {}; it must belong to that user or to "
                                   "root, or its owner be named (git.mirror_owner)",
                                   info.uid, self));
}

base::Result<RepositoryHandle> open_repository(const std::string& path, bool bare_only) {
  RepositoryHandle out;
  int error = make(out, git_repository_open_bare, path.c_str());
  if (error == GIT_ENOTFOUND && !bare_only) error = make(out, git_repository_open_bare, (path + "/.git").c_str());
  if (error == GIT_ENOTFOUND && !bare_only)  // a linked work tree: its .git is a file
    error =
        make(out, git_repository_open_ext, path.c_str(), static_cast<unsigned>(GIT_REPOSITORY_OPEN_NO_SEARCH), nullptr);
  if (error == 0) return out;
  return base::fail(error == GIT_ENOTFOUND ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                    fmt::format("git repository '{}': {}", base::escape(path), git_says()));
}

base::Result<void> check_format(git_repository* repository, const std::string& path) {
  ConfigHandle config;
  const char* value = nullptr;
  if (make(config, git_repository_config_snapshot, repository) != 0)
    return base::fail(ErrorCode::kUnavailable,
                      fmt::format("configuration of the git repository '{}': {}", base::escape(path), git_says()));
  if (git_config_get_string(&value, config.get(), "extensions.objectformat") != 0 || std::string_view(value) == "sha1")
    return {};
  return base::fail(ErrorCode::kUnsupported,
                    fmt::format("the git repository '{}' has the object format '{}': libgit2 {} reads SHA-1 only",
                                base::escape(path), base::escape(value), LIBGIT2_VERSION));
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

ObjectStore::ObjectStore(RepositoryHandle repository, OdbHandle odb, std::string directory)
    : repository_(std::move(repository)),
      odb_(std::move(odb)),
      directory_(std::move(directory)),
      tree_of_commit_(limits::kCommitsKeptMax) {}

base::Result<ObjectStore> ObjectStore::open(const std::string& path, bool bare_only,
                                            std::optional<std::uint32_t> owner_uid) {
  start_git();
  // Before libgit2 reads anything of it, where the repository is at this very path.
  if (bare_only && owner_uid) INTRAY_TRY(check_owner(path, owner_uid));
  RepositoryHandle repository = INTRAY_TRY(open_repository(path, bare_only));
  // The common directory is where objects, branches and FETCH_HEAD are; it differs in a linked work tree only.
  const std::string directory = without_slash(git_repository_commondir(repository.get()));
  INTRAY_TRY(check_owner(directory, owner_uid));
  INTRAY_TRY(check_format(repository.get(), path));
  OdbHandle odb;
  if (make(odb, git_repository_odb, repository.get()) != 0)
    return base::fail(ErrorCode::kUnavailable,
                      fmt::format("objects of the git repository '{}': {}", base::escape(path), git_says()));
  return ObjectStore(std::move(repository), std::move(odb), directory);
}

Answer<std::optional<ObjectStore::Header>> ObjectStore::header(const git_oid& id) {
  Header out;
  const int error = git_odb_read_header(&out.size_bytes, &out.type, odb_.get(), &id);
  if (error == 0) return out;
  if (error != GIT_ENOTFOUND) return unavailable("git can't read object " + to_hex(id));
  if (auto why = why_unreadable(id)) return refuse(model::Reason::kSourceUnavailable, std::move(*why));
  return std::nullopt;
}

Answer<git_oid> ObjectStore::tree_of_commit(const git_oid& commit) {
  if (const git_oid* known = tree_of_commit_.find(commit)) return *known;
  const std::optional<Header> found = INTRAY_TRY(header(commit));
  if (!found) return refuse(model::Reason::kUnknownCommit, fmt::format("git has no object {}", to_hex(commit)));
  if (found->type != GIT_OBJECT_COMMIT)
    return refuse(model::Reason::kUnknownCommit,
                  fmt::format("{} is {}, not a commit", to_hex(commit), type_word(found->type)));
  if (found->size_bytes > limits::kCommitBytesMax)
    return refuse(model::Reason::kSourceUnavailable, fmt::format("commit {} has {} bytes, more than {}", to_hex(commit),
                                                                 found->size_bytes, limits::kCommitBytesMax));
  CommitHandle read;
  if (make(read, git_commit_lookup, repository_.get(), &commit) != 0)
    return unavailable("git can't read commit " + to_hex(commit));
  return tree_of_commit_.insert(commit, *git_commit_tree_id(read.get()));
}

Answer<TreeHandle> ObjectStore::tree(const git_oid& id) {
  const std::optional<Header> found = INTRAY_TRY(header(id));
  if (!found)
    return refuse(model::Reason::kSourceUnavailable, "the repository is incomplete: it lacks tree " + to_hex(id));
  if (found->size_bytes > limits::kTreeBytesMax)
    return refuse(model::Reason::kSourceUnavailable, fmt::format("tree {} has {} bytes, more than {}", to_hex(id),
                                                                 found->size_bytes, limits::kTreeBytesMax));
  TreeHandle out;
  if (make(out, git_tree_lookup, repository_.get(), &id) != 0) return unavailable("git can't read tree " + to_hex(id));
  return out;
}

Answer<Blob> ObjectStore::blob(const git_oid& id, std::int64_t content_bytes_max) {
  const std::optional<Header> found = INTRAY_TRY(header(id));
  if (!found)
    return refuse(model::Reason::kSourceUnavailable, "the repository is incomplete: it lacks blob " + to_hex(id));
  if (std::cmp_greater(found->size_bytes, content_bytes_max))
    return refuse(model::Reason::kContentTooLarge,
                  fmt::format("blob {} has {} bytes, more than {}", to_hex(id), found->size_bytes, content_bytes_max));
  BlobHandle read;
  if (make(read, git_blob_lookup, repository_.get(), &id) != 0) return unavailable("git can't read blob " + to_hex(id));
  const void* bytes = git_blob_rawcontent(read.get());
  return Blob{to_hex(id), std::string(static_cast<const char*>(bytes), found->size_bytes)};
}

// libgit2 says "not found" for a file that it may not open, as after a fetch by another user with a narrow umask.
// Taking that for git's word would reject jobs for good, so a miss is looked into.
std::optional<std::string> ObjectStore::why_unreadable(const git_oid& missing) const {
  const auto closed = [&](const std::string& what) {
    return fmt::format("the repository '{}' can't be read: {}", base::escape(directory_), base::escape(what));
  };
  const auto root = sys::Dir::open(directory_);
  if (!root) return closed(root.error().what);
  const auto objects = root->open_subdir("objects");
  if (!objects) return closed(objects.error().what);

  const std::string hex = to_hex(missing);
  const auto fan = objects->open_subdir(hex.substr(0, 2));
  if (!fan && fan.error().code != ErrorCode::kNotFound) return closed(fan.error().what);
  if (fan) {
    const auto file = fan->open_read(hex.substr(2));
    if (!file && file.error().code != ErrorCode::kNotFound) return closed(file.error().what);
  }

  const auto packs = objects->open_subdir("pack");
  if (!packs)
    return packs.error().code == ErrorCode::kNotFound ? std::nullopt : std::optional(closed(packs.error().what));
  const auto names = packs->list();
  if (!names) return closed(names.error().what);
  for (const std::string& name : *names) {
    if (!name.ends_with(".pack") && !name.ends_with(".idx")) continue;
    const auto file = packs->open_read(name);
    if (!file && file.error().code != ErrorCode::kNotFound) return closed(file.error().what);
  }
  return std::nullopt;
}

}  // namespace intray::source
