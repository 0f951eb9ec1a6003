#include "source/tree_index.h"

#include <catch2/catch.hpp>

#include "git_fixture.h"

using namespace intray;
using intray::test::GitFixture;

namespace {

struct Opened {
  explicit Opened(const GitFixture& git)
      : store(std::move(source::ObjectStore::open(git.path(), true).value())), index(store) {}
  git_oid root(const std::string& commit) {
    git_oid out{};
    REQUIRE(source::parse_id(commit, out));
    return store.tree_of_commit(out).value();
  }
  std::optional<std::string> colliding(const std::string& commit, const std::string& path) {
    return index.colliding(root(commit), path).value();
  }
  source::ObjectStore store;
  source::TreeIndex index;
};

TEST_CASE("tree index: finds by exact bytes, and says which part is missing") {
  GitFixture git;
  git.set("Notes/deep/a.md", "x").set("top.md", "y").set("link", "Notes", GitFixture::kSymlink);
  const std::string commit = git.commit();
  Opened open(git);
  const auto found = open.index.find(open.root(commit), "Notes/deep/a.md").value();
  REQUIRE(found.found);
  CHECK(source::to_hex(found.id) == git.blob_of(commit, "Notes/deep/a.md"));
  const auto missing = [&](const std::string& path) {
    const auto entry = open.index.find(open.root(commit), path).value();
    CHECK_FALSE(entry.found);
    return entry.missing;
  };
  CHECK(missing("notes/deep/a.md").find("'notes'") != std::string::npos);
  CHECK(missing("Notes/deep/b.md").find("'b.md'") != std::string::npos);
  CHECK(missing("top.md/a.md").find("is a file") != std::string::npos);
  CHECK(missing("link/deep/a.md").find("symbolic link") != std::string::npos);
  CHECK(missing("").find("''") != std::string::npos);
  CHECK(missing("Notes//a.md").find("''") != std::string::npos);
  CHECK(missing("Notes/").find("''") != std::string::npos);
  missing(std::string("top.md\0x", 8));
}

TEST_CASE("tree index: another spelling of the same path collides, in the name and in its folders") {
  GitFixture git;
  git.set("A.md", "1").set("a.md", "2").set("Notes/x.md", "3").set("notes/X.md", "4").set("notes/only.md", "5");
  const std::string commit = git.commit();
  Opened open(git);
  CHECK(open.colliding(commit, "A.md") == "a.md");
  CHECK(open.colliding(commit, "a.md") == "A.md");
  CHECK(open.colliding(commit, "Notes/x.md") == "notes/X.md");
  CHECK(open.colliding(commit, "notes/X.md") == "Notes/x.md");
  CHECK(open.colliding(commit, "notes/only.md") == std::nullopt);
  CHECK(open.colliding(commit, "Notes/none.md") == std::nullopt);
}

TEST_CASE("tree index: the same folder under two spellings collides with itself") {
  GitFixture git;
  git.set("Notes/x.md", "3").set("notes/x.md", "3");
  const std::string commit = git.commit();
  Opened open(git);
  CHECK(open.colliding(commit, "Notes/x.md") == "notes/x.md");
  CHECK(open.colliding(commit, "notes/x.md") == "Notes/x.md");
}

TEST_CASE("tree index: full case folding and normal forms collide, folders and links too") {
  GitFixture git;
  git.set("Stra\u00DFe.md", "1").set("STRASSE.md", "2");        // sharp s folds to ss
  git.set("\u00E4.md", "3").set("a\u0308.md", "4");             // NFC and NFD of a umlaut
  git.set("B.md/inside.md", "5").set("b.md", "6");              // a folder
  git.set("C.md", "c", GitFixture::kSymlink).set("c.md", "7");  // a link
  git.set("\xFF.md", "8").set("\xFE.md", "9");                  // no UTF-8: collides with nothing
  const std::string commit = git.commit();
  Opened open(git);
  CHECK(open.colliding(commit, "STRASSE.md") == "Stra\u00DFe.md");
  CHECK(open.colliding(commit, "\u00E4.md") == "a\u0308.md");
  CHECK(open.colliding(commit, "b.md") == "B.md");
  CHECK(open.colliding(commit, "c.md") == "C.md");
  CHECK(open.colliding(commit, "\xFF.md") == std::nullopt);
}

TEST_CASE("tree index: nested folders of many spellings cost no more than their objects") {
  // 2^24 paths in 25 trees: each folder holds the next one under two spellings.
  GitFixture git;
  git.set("leaf.md", "x");
  std::string tree = git.tree_of(git.commit());
  git_repository* repository = nullptr;
  REQUIRE(git_repository_open_bare(&repository, git.path().c_str()) == 0);
  for (int i = 0; i < 24; ++i) {
    git_treebuilder* builder = nullptr;
    git_oid id{};
    REQUIRE(git_oid_fromstr(&id, tree.c_str()) == 0);
    REQUIRE(git_treebuilder_new(&builder, repository, nullptr) == 0);
    REQUIRE(git_treebuilder_insert(nullptr, builder, "d", &id, GIT_FILEMODE_TREE) == 0);
    REQUIRE(git_treebuilder_insert(nullptr, builder, "D", &id, GIT_FILEMODE_TREE) == 0);
    REQUIRE(git_treebuilder_write(&id, builder) == 0);
    git_treebuilder_free(builder);
    tree = source::to_hex(id);
  }
  git_repository_free(repository);
  Opened open(git);
  git_oid root{};
  REQUIRE(source::parse_id(tree, root));
  std::string path;
  for (int i = 0; i < 24; ++i) path += "d/";
  CHECK(open.index.colliding(root, path + "leaf.md").value().has_value());
  const auto listed = open.index.list(root);
  REQUIRE_FALSE(listed);
  CHECK(listed.error().reason == model::Reason::kContentTooLarge);
}

TEST_CASE("tree index: a listing holds files, links and submodules in tree order") {
  GitFixture git;
  const std::string first = git.set("b.md", "1").commit();
  git.set("a/z.md", "2").set("a.md", "3", GitFixture::kExecutable).set("l", "b.md", GitFixture::kSymlink);
  git.set_submodule("sub", first);
  const std::string commit = git.commit();
  Opened open(git);
  const auto listed = open.index.list(open.root(commit)).value();
  std::string text;
  for (const auto& entry : listed) text += entry.path + ":" + std::to_string(entry.mode) + " ";
  const auto mode = [](std::uint32_t value) { return std::to_string(value); };
  CHECK(text == "a.md:" + mode(0100755) + " a/z.md:" + mode(0100644) + " b.md:" + mode(0100644) +
                    " l:" + mode(0120000) + " sub:" + mode(0160000) + " ");
}

}  // namespace
