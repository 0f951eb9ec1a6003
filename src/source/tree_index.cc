#include "source/tree_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "limits.h"
#include "model/excerpt.h"
#include "model/vault_path.h"

namespace intray::source {
namespace {

using Fold = std::pair<std::size_t, std::size_t>;

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> out;
  for (;;) {
    const std::size_t slash = path.find('/');
    out.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    path.remove_prefix(slash + 1);
  }
}

std::string_view name_of(const git_tree_entry* entry) { return git_tree_entry_name(entry); }

std::vector<Fold> fold_names(const git_tree* tree) {
  std::vector<Fold> out;
  const std::size_t count = git_tree_entrycount(tree);
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    out.emplace_back(std::hash<std::string>{}(model::collision_key(name_of(git_tree_entry_byindex(tree, i)))), i);
  std::ranges::sort(out);
  return out;
}

std::string_view kind_word(git_filemode_t mode) {
  switch (mode) {
    case GIT_FILEMODE_TREE: return "a folder";
    case GIT_FILEMODE_LINK: return "a symbolic link";
    case GIT_FILEMODE_COMMIT: return "a submodule";
    default: return "a file";
  }
}

}  // namespace

TreeIndex::TreeIndex(ObjectStore& store)
    : store_(store), folders_(limits::kTreesKeptMax, limits::kTreeEntriesKeptMax) {}

Answer<TreeIndex::FolderPtr> TreeIndex::folder(const git_oid& id) {
  if (const FolderPtr* kept = folders_.find(id)) return *kept;
  auto out = std::make_shared<Folder>(Folder{INTRAY_TRY(store_.tree(id)), {}});
  return folders_.insert(id, out, git_tree_entrycount(out->tree.get()));
}

Answer<TreeIndex::Entry> TreeIndex::find(const git_oid& root, std::string_view path) {
  const std::vector<std::string> segments = split(path);
  git_oid at = root;
  const auto missing = [](std::string what) {
    Entry out;
    out.missing = std::move(what);
    return out;
  };
  for (std::size_t i = 0;; ++i) {
    const FolderPtr here = INTRAY_TRY(folder(at));
    const git_tree_entry* entry = git_tree_entry_byname(here->tree.get(), segments[i].c_str());
    // A NUL in a segment would end the name for libgit2 only.
    if (entry == nullptr || name_of(entry) != segments[i])
      return missing(fmt::format("there is no {}", model::excerpt(segments[i])));
    Entry found{true, *git_tree_entry_id(entry), git_tree_entry_filemode(entry), {}};
    if (i + 1 == segments.size()) return found;
    if (found.mode != GIT_FILEMODE_TREE)
      return missing(fmt::format("{} on the way is {}", model::excerpt(segments[i]), kind_word(found.mode)));
    at = found.id;
  }
}

// Walks all folders whose path folds to the same prefix at once. Each distinct tree is looked into once a level, so
// that a tree which holds itself under many spellings costs no more than its objects.
Answer<std::optional<std::string>> TreeIndex::colliding(const git_oid& root, std::string_view path) {
  struct Place {
    FolderPtr folder;
    std::string prefix;
    bool exact;  // the very path asked about leads here
  };
  std::vector<Place> level{{INTRAY_TRY(folder(root)), "", true}};
  const std::vector<std::string> segments = split(path);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    const std::string key = model::collision_key(segments[i]);
    const std::size_t hash = std::hash<std::string>{}(key);
    std::vector<Place> next;
    std::unordered_set<git_oid, OidHash, OidEqual> seen;
    for (const Place& place : level) {
      const git_tree* tree = place.folder->tree.get();
      auto& folded = place.folder->folded;
      if (folded.empty()) folded = fold_names(tree);
      for (auto at = std::ranges::lower_bound(folded, Fold{hash, 0}); at != folded.end() && at->first == hash; ++at) {
        const git_tree_entry* entry = git_tree_entry_byindex(tree, at->second);
        const std::string name(name_of(entry));
        if (model::collision_key(name) != key) continue;
        const bool exact = place.exact && name == segments[i];
        std::string full = place.prefix + name;
        if (last) {
          if (!exact) return full;
        } else if (git_tree_entry_filemode(entry) == GIT_FILEMODE_TREE) {
          const git_oid& id = *git_tree_entry_id(entry);
          if (exact || seen.insert(id).second) next.push_back({INTRAY_TRY(folder(id)), full + "/", exact});
        }
      }
    }
    level = std::move(next);
  }
  return std::nullopt;
}

Answer<std::vector<Source::Entry>> TreeIndex::list(const git_oid& root) {
  struct Place {
    TreeHandle tree;
    std::string prefix;
    std::size_t next = 0;
  };
  std::vector<Source::Entry> out;
  std::vector<Place> stack;
  std::size_t visited = 0;
  stack.push_back({INTRAY_TRY(store_.tree(root)), ""});
  while (!stack.empty()) {
    Place& here = stack.back();
    if (here.next == git_tree_entrycount(here.tree.get())) {
      stack.pop_back();
      continue;
    }
    const git_tree_entry* entry = git_tree_entry_byindex(here.tree.get(), here.next++);
    std::string path = here.prefix + std::string(name_of(entry));
    if (++visited > limits::kTreeEntriesListedMax || path.size() > limits::kTreePathBytesMax)
      return refuse(model::Reason::kContentTooLarge,
                    fmt::format("tree {} has more than {} entries, or a path over {} bytes", to_hex(root),
                                limits::kTreeEntriesListedMax, limits::kTreePathBytesMax));
    if (git_tree_entry_filemode(entry) == GIT_FILEMODE_TREE)
      stack.push_back({INTRAY_TRY(store_.tree(*git_tree_entry_id(entry))), path + "/"});
    else
      out.push_back({std::move(path), static_cast<std::uint32_t>(git_tree_entry_filemode(entry))});
  }
  return out;
}

}  // namespace intray::source
