#include "source/ancestry.h"

#include <catch2/catch.hpp>

#include "git_fixture.h"
#include "source/object_store.h"

using namespace intray;
using intray::source::Ancestry;
using intray::test::GitFixture;

namespace {

git_oid id(const std::string& hex) {
  git_oid out{};
  REQUIRE(source::parse_id(hex, out));
  return out;
}

source::ObjectStore open(const GitFixture& git) {
  auto store = source::ObjectStore::open(git.path(), true);
  REQUIRE(store);
  return std::move(*store);
}

bool reaches(Ancestry& ancestry, const std::string& commit) {
  const auto answer = ancestry.reaches(id(commit));
  REQUIRE(answer);
  return *answer;
}

TEST_CASE("ancestry: every commit of a history with a merge is reached, one beside it is not") {
  for (const std::size_t commits_max : {std::size_t{1000}, std::size_t{2}}) {  // the second: too long to be remembered
    GitFixture git;
    const std::string first = git.set("a.md", "1").commit();
    git.set_branch("side", first);
    const std::string side = git.set("b.md", "2").commit("side");
    const std::string second = git.set("a.md", "3").commit();
    const std::string merge = git.commit("main", {side});
    const std::string beside = git.set("a.md", "fork").commit_loose({second});
    auto store = open(git);
    Ancestry ancestry(store.repository(), commits_max);
    ancestry.set_heads({id(merge)});
    for (int round = 0; round < 2; ++round) {
      CHECK(reaches(ancestry, merge));
      CHECK(reaches(ancestry, second));
      CHECK(reaches(ancestry, side));
      CHECK(reaches(ancestry, first));
      CHECK_FALSE(reaches(ancestry, beside));
    }
  }
}

TEST_CASE("ancestry: heads that move forward keep what is known, also in the middle of a walk") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  const std::string middle = git.commit_many("main", 50);
  auto store = open(git);
  Ancestry ancestry(store.repository(), 1000);
  ancestry.set_heads({id(middle)});
  const std::string beside = git.commit_loose({first});
  SECTION("after one question near the head") { CHECK(reaches(ancestry, middle)); }
  SECTION("after the whole walk") { CHECK_FALSE(reaches(ancestry, beside)); }
  const std::string later = git.commit_many("main", 5);
  const std::string last = git.commit();
  ancestry.set_heads({id(last)});
  CHECK(reaches(ancestry, later));
  CHECK(reaches(ancestry, middle));
  CHECK(reaches(ancestry, first));
  CHECK_FALSE(reaches(ancestry, beside));
}

TEST_CASE("ancestry: rewritten history forgets what it dropped") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  const std::string dropped = git.set("a.md", "2").commit();
  auto store = open(git);
  Ancestry ancestry(store.repository(), 1000);
  ancestry.set_heads({id(dropped)});
  CHECK(reaches(ancestry, first));
  CHECK(reaches(ancestry, dropped));
  const std::string other = git.set("a.md", "3").commit_loose({first});
  ancestry.set_heads({id(other)});
  CHECK_FALSE(reaches(ancestry, dropped));
  CHECK(reaches(ancestry, first));
  ancestry.set_heads({});
  CHECK_FALSE(reaches(ancestry, first));
}

TEST_CASE("ancestry: a second branch adds, its removal takes away") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  const std::string side = git.set("a.md", "2").commit_loose({first});
  const std::string main = git.set("a.md", "3").commit();
  auto store = open(git);
  Ancestry ancestry(store.repository(), 1000);
  ancestry.set_heads({id(main)});
  CHECK_FALSE(reaches(ancestry, side));
  ancestry.set_heads({id(main), id(side)});
  CHECK(reaches(ancestry, side));
  CHECK(reaches(ancestry, main));
  ancestry.set_heads({id(main)});
  CHECK_FALSE(reaches(ancestry, side));
  CHECK(reaches(ancestry, first));
}

TEST_CASE("ancestry: a shallow clone is a hole in history and says so") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  git.set("a.md", "2").commit();
  const std::string head = git.set("a.md", "3").commit();
  const test::TempDir dir;
  const std::string clone = dir.path() + "/shallow.git";
  git.git({"clone", "--quiet", "--bare", "--depth=1", "file://" + git.path(), clone});
  auto store = source::ObjectStore::open(clone, true);
  REQUIRE(store);
  Ancestry ancestry(store->repository(), 1000);
  ancestry.set_heads({id(head)});
  CHECK(reaches(ancestry, head));
  const auto answer = ancestry.reaches(id(first));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().reason == model::Reason::kSourceUnavailable);
  CHECK(answer.error().detail.find("shallow") != std::string::npos);
}

}  // namespace
