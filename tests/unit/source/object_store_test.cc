#include "source/object_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "git_fixture.h"
#include "sys/process.h"

using namespace intray;
using intray::model::Reason;
using intray::source::ObjectStore;
using intray::test::GitFixture;

namespace {

git_oid id(const std::string& hex) {
  git_oid out{};
  REQUIRE(source::parse_id(hex, out));
  return out;
}

TEST_CASE("object store: opens a bare repository, and a work tree's only where that is allowed") {
  const test::TempDir dir;
  REQUIRE(test::run_program({"git", "init", "--quiet", dir.path() + "/work"}) == 0);
  CHECK(ObjectStore::open(dir.path() + "/work", false));
  CHECK(ObjectStore::open(dir.path() + "/work", true).error().code == base::ErrorCode::kNotFound);
  std::filesystem::create_directories(dir.path() + "/work/inner");
  CHECK(ObjectStore::open(dir.path() + "/work/inner", false).error().code == base::ErrorCode::kNotFound);
  CHECK(ObjectStore::open(dir.path() + "/nothing", false).error().code == base::ErrorCode::kNotFound);
}

TEST_CASE("object store: a linked work tree reads the objects of the main one") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  const test::TempDir dir;
  git.git({"worktree", "add", "--quiet", "--detach", dir.path() + "/linked", commit});
  auto store = ObjectStore::open(dir.path() + "/linked", false);
  REQUIRE(store);
  CHECK(store->tree_of_commit(id(commit)));
  CHECK(store->directory() == git.path());
}

TEST_CASE("object store: a repository that belongs to somebody else is dubious") {
  GitFixture git;
  git.set("a.md", "x").commit();
  if (sys::effective_uid() != 0) {
    WARN("only root can give a repository away");
    return;
  }
  REQUIRE(chown(git.path().c_str(), 4711, 4711) == 0);
  const auto store = ObjectStore::open(git.path(), true);
  REQUIRE_FALSE(store);
  CHECK(store.error().code == base::ErrorCode::kDenied);
  CHECK(store.error().what.find("dubious ownership") != std::string::npos);
  CHECK(store.error().what.find("4711") != std::string::npos);
}

// As a site has it whose mirror is kept by a user of its own. Also shows that libgit2 itself opens a bare repository of
// somebody else: a version that does not would need GIT_OPT_SET_OWNER_VALIDATION (decisions/0016).
TEST_CASE("object store: a named owner may keep the repository, and nobody else may write there") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  git.git({"pack-refs", "--all"});
  if (sys::effective_uid() != 0) {
    WARN("skipped: only root can give a repository away");
    return;
  }
  constexpr std::uint32_t kMirror = 4711;
  const auto give = [&](const std::string& name, std::uint32_t uid) {
    REQUIRE(test::run_program({"chown", "-R", std::to_string(uid), git.path() + name}) == 0);
  };
  const auto allow = [&](const std::string& name, const char* mode) {
    REQUIRE(test::run_program({"chmod", mode, git.path() + name}) == 0);
  };
  const auto why_not = [&] {
    const auto store = ObjectStore::open(git.path(), true, kMirror);
    if (store) return std::string();
    CHECK(store.error().code == base::ErrorCode::kDenied);
    return store.error().what;
  };
  give("", kMirror);
  auto store = ObjectStore::open(git.path(), true, kMirror);
  REQUIRE(store);
  CHECK(store->tree_of_commit(id(commit)));
  CHECK_FALSE(ObjectStore::open(git.path(), true));               // nobody was named
  CHECK_FALSE(ObjectStore::open(git.path(), true, kMirror + 1));  // somebody else was

  for (const char* name : {"", "/HEAD", "/config", "/objects", "/refs", "/refs/heads", "/packed-refs"}) {
    INFO(name);
    give(name, 4712);
    CHECK(why_not().find("4712") != std::string::npos);
    give("", 0);  // root's is as good
    CHECK(why_not().empty());
    give("", kMirror);
    for (const char* mode : {"g+w", "o+w"}) {
      allow(name, mode);
      CHECK(why_not().find("writable by others") != std::string::npos);
      allow(name, "go-w");
    }
    CHECK(why_not().empty());
  }
  REQUIRE(test::run_program({"mv", git.path() + "/refs", git.path() + "/elsewhere"}) == 0);
  REQUIRE(test::run_program({"ln", "-s", "elsewhere", git.path() + "/refs"}) == 0);
  CHECK(why_not().find("file or directory") != std::string::npos);
}

TEST_CASE("object store: a SHA-256 repository is unsupported, in words") {
  const test::TempDir dir;
  REQUIRE(test::run_program({"git", "init", "--quiet", "--bare", "--object-format=sha256", dir.path() + "/r.git"}) ==
          0);
  const auto store = ObjectStore::open(dir.path() + "/r.git", true);
  REQUIRE_FALSE(store);
  CHECK(store.error().code == base::ErrorCode::kUnsupported);
  CHECK(store.error().what.find("sha256") != std::string::npos);
}

TEST_CASE("object store: other kinds of objects are no commits") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  auto store = ObjectStore::open(git.path(), true).value();
  CHECK(store.tree_of_commit(id(commit)));
  for (const std::string& other :
       {git.annotated_tag("v1", commit), git.tree_of(commit), git.blob_of(commit, "a.md"), std::string(40, 'a')}) {
    const auto answer = store.tree_of_commit(id(other));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().reason == Reason::kUnknownCommit);
  }
}

TEST_CASE("object store: an object that is there but can't be read is not unknown") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  SECTION("its bytes are not its own") {
    const std::string file = git.object_file(commit);
    REQUIRE(chmod(file.c_str(), 0600) == 0);
    std::filesystem::copy_file(git.object_file(git.set("b.md", "y").commit()), file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  SECTION("its bytes are garbage") {
    const std::string file = git.object_file(commit);
    REQUIRE(chmod(file.c_str(), 0600) == 0);
    std::ofstream(file, std::ios::trunc) << "garbage";
  }
  SECTION("its file is something that can't be opened") {
    const std::string file = git.object_file(commit);
    REQUIRE(std::filesystem::remove(file));
    std::filesystem::create_symlink("loop", file);
  }
  auto store = ObjectStore::open(git.path(), true).value();
  const auto answer = store.tree_of_commit(id(commit));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == Reason::kSourceUnavailable);
}

TEST_CASE("object store: nothing is unknown in a repository whose objects are gone") {
  GitFixture git;
  git.set("a.md", "x").commit();
  auto store = ObjectStore::open(git.path(), true).value();
  CHECK(store.tree_of_commit(id(std::string(40, 'a'))).error().reason == Reason::kUnknownCommit);
  SECTION("the folder of objects") { std::filesystem::remove_all(git.path() + "/objects"); }
  SECTION("the whole repository") { std::filesystem::remove_all(git.path()); }
  CHECK(store.tree_of_commit(id(std::string(40, 'a'))).error().reason == Reason::kSourceUnavailable);
}

TEST_CASE("object store: nothing is unknown while a pack can't be opened") {
  GitFixture git;
  git.set("a.md", "x").commit();
  git.git({"gc", "--quiet"});
  auto store = ObjectStore::open(git.path(), true).value();
  std::filesystem::create_symlink("loop", git.path() + "/objects/pack/pack-0000.pack");
  const auto answer = store.tree_of_commit(id(std::string(40, 'a')));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == Reason::kSourceUnavailable);
  CHECK(answer.error().detail.find("pack-0000") != std::string::npos);
}

TEST_CASE("object store: a tree or blob that a commit names and git lacks is a hole, not an answer") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  auto store = ObjectStore::open(git.path(), true).value();
  const std::string blob = git.blob_of(commit, "a.md");
  CHECK(store.blob(id(blob), 1).value().content == "x");
  CHECK(store.blob(id(blob), 0).error().reason == Reason::kContentTooLarge);
  std::filesystem::remove(git.object_file(blob));
  std::filesystem::remove(git.object_file(git.tree_of(commit)));
  auto fresh = ObjectStore::open(git.path(), true).value();
  CHECK(fresh.tree(fresh.tree_of_commit(id(commit)).value()).error().reason == Reason::kSourceUnavailable);
  CHECK(fresh.blob(id(blob), 1).error().reason == Reason::kSourceUnavailable);
}

}  // namespace
