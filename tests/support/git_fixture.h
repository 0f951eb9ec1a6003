// Purpose:    a bare git repository in a temporary directory, built commit by commit; it can hold what no vault should.
// Thread use: one thread.
//
// Objects are made through libgit2, which is fast and can write what git's own commands refuse; git() runs the real git
// for repacks and clones. Any step that fails throws std::runtime_error, which fails the test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct git_repository;

namespace intray::test {

// Removed with all it holds at the end.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a program from PATH and waits; its output is thrown away. Its exit status, or -1.
int run_program(const std::vector<std::string>& words);

class GitFixture {
 public:
  static constexpr std::uint32_t kFile = 0100644;
  static constexpr std::uint32_t kExecutable = 0100755;
  static constexpr std::uint32_t kSymlink = 0120000;
  static constexpr std::uint32_t kSubmodule = 0160000;

  GitFixture();
  GitFixture(const GitFixture&) = delete;
  GitFixture& operator=(const GitFixture&) = delete;
  ~GitFixture();

  const std::string& path() const { return path_; }

  // The next commit's tree: starts empty, and stays from one commit to the next.
  GitFixture& set(const std::string& path, const std::string& content, std::uint32_t mode = kFile);
  GitFixture& set_submodule(const std::string& path, const std::string& commit);
  GitFixture& remove(const std::string& path);
  GitFixture& clear();

  // Commits that tree on the branch, whose former head becomes the parent; further parents make a merge. Returns the
  // id.
  std::string commit(const std::string& branch = "main", const std::vector<std::string>& more_parents = {});
  // A commit object that no branch has.
  std::string commit_loose(const std::vector<std::string>& parents);
  // `count` commits in a row with the same tree.
  std::string commit_many(const std::string& branch, int count);

  std::string head(const std::string& branch = "main") const;
  void set_branch(const std::string& name, const std::string& commit);
  void delete_branch(const std::string& name);

  std::string tree_of(const std::string& commit) const;
  std::string blob_of(const std::string& commit, const std::string& path) const;
  std::string annotated_tag(const std::string& name, const std::string& commit);

  // Writes FETCH_HEAD, last changed at this time (microseconds since the epoch).
  void set_fetched_at(std::int64_t wall_us);
  // The file of a loose object.
  std::string object_file(const std::string& id) const;
  // git -C <path> …
  void git(std::vector<std::string> words) const;

 private:
  struct Staged {
    std::string id;
    std::uint32_t mode;
  };

  std::string write_tree() const;
  std::string write_commit(const std::string& tree, const std::vector<std::string>& parents, const char* ref);

  TempDir dir_;
  std::string path_;
  git_repository* repository_ = nullptr;
  std::map<std::string, Staged> staged_;
  std::int64_t clock_s_ = 1'700'000'000;
};

}  // namespace intray::test
