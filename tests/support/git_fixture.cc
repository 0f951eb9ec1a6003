#include "git_fixture.h"

#include <fcntl.h>
#include <git2.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

extern char** environ;

namespace intray::test {
namespace {

void check(int error, const std::string& what) {
  if (error >= 0) return;
  const git_error* last = git_error_last();
  throw std::runtime_error(what + ": " + (last != nullptr ? last->message : "no reason given"));
}

git_oid parse(const std::string& hex) {
  git_oid out{};
  check(git_oid_fromstr(&out, hex.c_str()), "id " + hex);
  return out;
}

std::string text(const git_oid& id) {
  std::string out(GIT_OID_HEXSZ, '\0');
  git_oid_fmt(out.data(), &id);
  return out;
}

template <class T, class Free>
std::unique_ptr<T, Free> own(T* raw, Free free) {
  return {raw, free};
}

// Folders by hand: libgit2's index would not hold two names that differ in case as files and folders at once.
struct Folder {
  std::map<std::string, std::pair<std::string, std::uint32_t>> files;
  std::map<std::string, Folder> folders;
};

git_oid write_folder(git_repository* repository, const Folder& folder) {
  git_treebuilder* raw = nullptr;
  check(git_treebuilder_new(&raw, repository, nullptr), "treebuilder");
  const auto builder = own(raw, git_treebuilder_free);
  for (const auto& [name, file] : folder.files) {
    const git_oid id = parse(file.first);
    check(git_treebuilder_insert(nullptr, raw, name.c_str(), &id, static_cast<git_filemode_t>(file.second)), name);
  }
  for (const auto& [name, inner] : folder.folders) {
    const git_oid id = write_folder(repository, inner);
    check(git_treebuilder_insert(nullptr, raw, name.c_str(), &id, GIT_FILEMODE_TREE), name);
  }
  git_oid out{};
  check(git_treebuilder_write(&out, raw), "tree");
  return out;
}

}  // namespace

TempDir::TempDir() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/intray-git-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp " + path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error != 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

GitFixture::GitFixture() : path_(dir_.path() + "/mirror.git") {
  git_libgit2_init();
  check(git_repository_init(&repository_, path_.c_str(), 1), "init " + path_);
  check(git_repository_set_head(repository_, "refs/heads/main"), "HEAD");
}

GitFixture::~GitFixture() {
  git_repository_free(repository_);
  git_libgit2_shutdown();
}

GitFixture& GitFixture::set(const std::string& path, const std::string& content, std::uint32_t mode) {
  git_oid id{};
  check(git_blob_create_from_buffer(&id, repository_, content.data(), content.size()), "blob");
  staged_[path] = {text(id), mode};
  return *this;
}

GitFixture& GitFixture::set_submodule(const std::string& path, const std::string& commit) {
  staged_[path] = {commit, kSubmodule};
  return *this;
}

GitFixture& GitFixture::remove(const std::string& path) {
  if (staged_.erase(path) == 0) throw std::runtime_error("nothing staged at " + path);
  return *this;
}

GitFixture& GitFixture::clear() {
  staged_.clear();
  return *this;
}

std::string GitFixture::write_tree() const {
  Folder root;
  for (const auto& [path, staged] : staged_) {
    Folder* at = &root;
    std::size_t from = 0;
    for (std::size_t slash = 0; (slash = path.find('/', from)) != std::string::npos; from = slash + 1)
      at = &at->folders[path.substr(from, slash - from)];
    at->files[path.substr(from)] = {staged.id, staged.mode};
  }
  return text(write_folder(repository_, root));
}

std::string GitFixture::write_commit(const std::string& tree, const std::vector<std::string>& parents,
                                     const char* ref) {
  git_tree* raw_tree = nullptr;
  const git_oid tree_id = parse(tree);
  check(git_tree_lookup(&raw_tree, repository_, &tree_id), "tree " + tree);
  const auto tree_owner = own(raw_tree, git_tree_free);
  std::vector<std::unique_ptr<git_commit, decltype(&git_commit_free)>> owners;
  std::vector<const git_commit*> parent_pointers;
  for (const std::string& parent : parents) {
    git_commit* raw = nullptr;
    const git_oid id = parse(parent);
    check(git_commit_lookup(&raw, repository_, &id), "parent " + parent);
    owners.push_back(own(raw, git_commit_free));
    parent_pointers.push_back(raw);
  }
  git_signature* raw_signature = nullptr;
  check(git_signature_new(&raw_signature, "Test", "test@example.org", ++clock_s_, 0), "signature");
  const auto signature = own(raw_signature, git_signature_free);
  git_oid id{};
  check(git_commit_create(&id, repository_, ref, raw_signature, raw_signature, "UTF-8", "change\n", raw_tree,
                          parent_pointers.size(), parent_pointers.data()),
        "commit");
  return text(id);
}

std::string GitFixture::commit(const std::string& branch, const std::vector<std::string>& more_parents) {
  const std::string ref = "refs/heads/" + branch;
  std::vector<std::string> parents;
  git_oid old{};
  if (git_reference_name_to_id(&old, repository_, ref.c_str()) == 0) parents.push_back(text(old));
  parents.insert(parents.end(), more_parents.begin(), more_parents.end());
  return write_commit(write_tree(), parents, ref.c_str());
}

std::string GitFixture::commit_loose(const std::vector<std::string>& parents) {
  return write_commit(write_tree(), parents, nullptr);
}

std::string GitFixture::commit_many(const std::string& branch, int count) {
  const std::string tree = write_tree();
  std::string at = commit(branch);
  for (int i = 1; i < count; ++i) at = write_commit(tree, {at}, nullptr);
  set_branch(branch, at);
  return at;
}

std::string GitFixture::head(const std::string& branch) const {
  git_oid id{};
  check(git_reference_name_to_id(&id, repository_, ("refs/heads/" + branch).c_str()), "head of " + branch);
  return text(id);
}

void GitFixture::set_branch(const std::string& name, const std::string& commit) {
  git_reference* raw = nullptr;
  const git_oid id = parse(commit);
  check(git_reference_create(&raw, repository_, ("refs/heads/" + name).c_str(), &id, 1, nullptr), "branch " + name);
  git_reference_free(raw);
}

void GitFixture::delete_branch(const std::string& name) {
  check(git_reference_remove(repository_, ("refs/heads/" + name).c_str()), "removal of branch " + name);
}

std::string GitFixture::tree_of(const std::string& commit) const {
  git_commit* raw = nullptr;
  const git_oid id = parse(commit);
  check(git_commit_lookup(&raw, repository_, &id), "commit " + commit);
  const auto owner = own(raw, git_commit_free);
  return text(*git_commit_tree_id(raw));
}

std::string GitFixture::blob_of(const std::string& commit, const std::string& path) const {
  git_tree* tree = nullptr;
  const git_oid id = parse(tree_of(commit));
  check(git_tree_lookup(&tree, repository_, &id), "tree");
  const auto tree_owner = own(tree, git_tree_free);
  git_tree_entry* entry = nullptr;
  check(git_tree_entry_bypath(&entry, tree, path.c_str()), path);
  const auto entry_owner = own(entry, git_tree_entry_free);
  return text(*git_tree_entry_id(entry));
}

std::string GitFixture::annotated_tag(const std::string& name, const std::string& commit) {
  git_object* target = nullptr;
  const git_oid id = parse(commit);
  check(git_object_lookup(&target, repository_, &id, GIT_OBJECT_ANY), "target " + commit);
  const auto owner = own(target, git_object_free);
  git_signature* signature = nullptr;
  check(git_signature_new(&signature, "Test", "test@example.org", ++clock_s_, 0), "signature");
  const auto signature_owner = own(signature, git_signature_free);
  git_oid out{};
  check(git_tag_create(&out, repository_, name.c_str(), target, signature, "a tag\n", 0), "tag " + name);
  return text(out);
}

void GitFixture::set_fetched_at(std::int64_t wall_us) {
  const std::string file = path_ + "/FETCH_HEAD";
  std::ofstream(file) << head() << "\tbranch 'main' of somewhere\n";
  const struct timespec at = {wall_us / 1'000'000, (wall_us % 1'000'000) * 1000};
  const std::array<struct timespec, 2> both{at, at};
  if (utimensat(AT_FDCWD, file.c_str(), both.data(), 0) != 0) throw std::runtime_error("utimensat " + file);
}

std::string GitFixture::object_file(const std::string& id) const {
  return path_ + "/objects/" + id.substr(0, 2) + "/" + id.substr(2);
}

void GitFixture::git(std::vector<std::string> words) const {
  words.insert(words.begin(), {"git", "-C", path_});
  std::string line;
  for (const std::string& word : words) line += word + " ";
  if (run_program(words) != 0) throw std::runtime_error(line);
}

}  // namespace intray::test
