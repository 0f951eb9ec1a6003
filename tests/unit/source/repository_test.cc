#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "git_fixture.h"
#include "source/source.h"
#include "sys/process.h"

using namespace intray;
using namespace std::chrono_literals;
using intray::model::Reason;
using intray::source::Options;
using intray::source::Source;
using intray::test::GitFixture;

namespace {

const base::FakeClock kClock;

Options options(const GitFixture& git, std::vector<std::string> branches = {"main"}) {
  Options out;
  out.path = git.path();
  out.branches = std::move(branches);
  out.bare_only = true;
  return out;
}

std::unique_ptr<Source> open(const Options& opts, const base::Clock& clock = kClock) {
  auto out = Source::open(opts, clock);
  if (!out) FAIL(out.error().what);
  return std::move(*out);
}

template <class T>
Reason reason(const source::Answer<T>& answer) {
  REQUIRE_FALSE(answer);
  return answer.error().reason;
}

template <class T>
std::string detail(const source::Answer<T>& answer) {
  REQUIRE_FALSE(answer);
  return answer.error().detail;
}

TEST_CASE("source: a commit is known by its full, lower-case id only") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  auto source = open(options(git));
  CHECK(source->commit_exists(commit));
  std::string upper = commit;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const std::string& other :
       {commit.substr(0, 12), commit.substr(0, 39), commit + "0", commit + std::string(24, '0'), upper,
        std::string("main"), std::string("HEAD"), std::string(), std::string(40, '0'), std::string(39, 'a') + "g",
        git.tree_of(commit), git.blob_of(commit, "a.md"), git.annotated_tag("v1", commit)}) {
    INFO(other);
    if (other == upper && upper == commit) continue;
    CHECK(reason(source->commit_exists(other)) == Reason::kUnknownCommit);
  }
}

TEST_CASE("source: only the configured branches give a commit authority") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  git.set_branch("proposal", first);
  const std::string proposal = git.set("a.md", "proposed").commit("proposal");
  const std::string second = git.set("a.md", "2").commit("main");
  const std::string fork = git.set("a.md", "fork").commit_loose({first});
  git.set_branch("dropped", second);
  const std::string dropped = git.set("a.md", "dropped").commit("dropped");
  git.delete_branch("dropped");
  git.annotated_tag("kept", fork);  // a tag keeps it, and gives it nothing
  auto source = open(options(git));
  CHECK(source->on_branch(second));
  CHECK(source->on_branch(first));
  for (const std::string& other : {proposal, fork, dropped}) {
    CHECK(source->commit_exists(other));
    CHECK(reason(source->on_branch(other)) == Reason::kCommitNotOnBranch);
  }
  CHECK(detail(source->on_branch(fork)).find("'main'") != std::string::npos);
  auto both = open(options(git, {"main", "proposal"}));
  CHECK(both->on_branch(proposal));
  CHECK(both->on_branch(second));
  CHECK(reason(both->on_branch(fork)) == Reason::kCommitNotOnBranch);
}

TEST_CASE("source: heads are those of the last refresh") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  auto source = open(options(git));
  REQUIRE(source->refresh());
  const std::string second = git.set("a.md", "2").commit();
  CHECK(reason(source->on_branch(second)) == Reason::kCommitNotOnBranch);
  CHECK(source->blobs_at_heads("a.md").value() == std::vector{git.blob_of(first, "a.md")});
  REQUIRE(source->refresh());
  CHECK(source->on_branch(second));
  CHECK(source->blobs_at_heads("a.md").value() == std::vector{git.blob_of(second, "a.md")});
  git.set_branch("main", first);
  REQUIRE(source->refresh());
  CHECK(reason(source->on_branch(second)) == Reason::kCommitNotOnBranch);
}

TEST_CASE("source: a missing branch is unavailable, and so is everything about heads until it is back") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  auto source = open(options(git, {"main", "release"}));
  CHECK(reason(source->refresh()) == Reason::kSourceUnavailable);
  CHECK(detail(source->refresh()).find("'release'") != std::string::npos);
  CHECK(reason(source->on_branch(commit)) == Reason::kSourceUnavailable);
  CHECK(reason(source->blobs_at_heads("a.md")) == Reason::kSourceUnavailable);
  CHECK(source->commit_exists(commit));
  git.set_branch("release", commit);
  CHECK(source->refresh());
  CHECK(source->on_branch(commit));
}

TEST_CASE("source: a head that is no readable commit is unavailable") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  std::ofstream(git.path() + "/refs/heads/main", std::ios::trunc) << std::string(40, 'a') << "\n";
  auto source = open(options(git));
  CHECK(reason(source->refresh()) == Reason::kSourceUnavailable);
  std::ofstream(git.path() + "/refs/heads/main", std::ios::trunc) << "nonsense\n";
  CHECK(reason(source->refresh()) == Reason::kSourceUnavailable);
  std::ofstream(git.path() + "/refs/heads/main", std::ios::trunc) << commit << "\n";
  CHECK(source->refresh());
}

TEST_CASE("source: a mirror older than the limit is unavailable, a fetch heals it") {
  GitFixture git;
  git.set("a.md", "x").commit();
  base::FakeClock clock;
  Options opts = options(git);
  opts.max_age = 10min;
  auto source = open(opts, clock);
  CHECK(detail(source->refresh()).find("never fetched") != std::string::npos);
  git.set_fetched_at(base::to_us(clock.wall()));
  CHECK(source->refresh());
  clock.advance(10min);
  CHECK(source->refresh());
  clock.advance(1s);
  CHECK(reason(source->refresh()) == Reason::kSourceUnavailable);
  CHECK(detail(source->refresh()).find("10 min ago") != std::string::npos);
  CHECK(reason(source->blobs_at_heads("a.md")) == Reason::kSourceUnavailable);
  git.set_fetched_at(base::to_us(clock.wall()));
  CHECK(source->refresh());
  clock.step_wall(-11min);
  CHECK(detail(source->refresh()).find("in the future") != std::string::npos);
  opts.max_age = 0us;
  CHECK(open(opts, clock)->refresh());
}

TEST_CASE("source: only a regular file is an object, found by exact bytes in the commit's own tree") {
  GitFixture git;
  const std::string first = git.set("old.md", "0").commit();
  git.remove("old.md").set("plain.md", "1").set("run.md", "2", GitFixture::kExecutable);
  git.set("link.md", "plain.md", GitFixture::kSymlink).set("Dir", "elsewhere", GitFixture::kSymlink);
  git.set_submodule("sub.md", first).set_submodule("module", first).set("Folder/in.md", "3");
  git.set("\u00E4.md", "composed").set("o\u0308.md", "decomposed");
  const std::string commit = git.commit();
  auto source = open(options(git));
  CHECK(source->find_blob(commit, "plain.md").value() == git.blob_of(commit, "plain.md"));
  CHECK(source->read_blob(source->find_blob(commit, "Folder/in.md").value()).value().content == "3");
  CHECK(source->find_blob(commit, "\u00E4.md"));
  CHECK(source->find_blob(commit, "o\u0308.md"));
  for (const std::string path :
       {"run.md", "link.md", "sub.md", "module/x.md", "Dir/in.md", "Folder", "Folder/", "folder/in.md", "old.md",
        "plain.md/", "/plain.md", "./plain.md", "Folder/../plain.md", "", "/", "a\u0308.md", "\u00F6.md", "PLAIN.md"}) {
    INFO(path);
    CHECK(reason(source->find_blob(commit, path)) == Reason::kUnknownObject);
  }
  CHECK(detail(source->find_blob(commit, "run.md")).find("100755") != std::string::npos);
  CHECK(detail(source->find_blob(commit, "link.md")).find("symbolic link") != std::string::npos);
  CHECK(detail(source->find_blob(commit, "module/x.md")).find("submodule") != std::string::npos);
  CHECK(detail(source->find_blob(commit, "new\x1b[31m.md")).find('\x1b') == std::string::npos);
  CHECK(source->find_blob(first, "old.md"));
  CHECK(reason(source->find_blob(std::string(40, 'a'), "plain.md")) == Reason::kUnknownCommit);
}

TEST_CASE("source: content over the limit is refused unread") {
  GitFixture git;
  const std::string commit = git.set("a.md", "12345").set("b.md", "1234").commit();
  Options opts = options(git);
  opts.content_bytes_max = 4;
  auto source = open(opts);
  CHECK(source->find_blob(commit, "b.md"));
  CHECK(reason(source->find_blob(commit, "a.md")) == Reason::kContentTooLarge);
  CHECK(detail(source->find_blob(commit, "a.md")).find("5 bytes") != std::string::npos);
  CHECK(reason(source->read_blob(git.blob_of(commit, "a.md"))) == Reason::kContentTooLarge);
  CHECK(reason(source->read_blob("abc")) == Reason::kUnknownObject);
}

TEST_CASE("source: blobs at heads are those of all branches, each once, files only") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").set("b.md", "same").set("c.md", "c").commit();
  git.set_branch("release", first);
  git.set("a.md", "2").set("c.md", "c", GitFixture::kSymlink).set("d.md", "d", GitFixture::kExecutable);
  const std::string second = git.commit();
  auto source = open(options(git, {"main", "release"}));
  CHECK(source->blobs_at_heads("a.md").value().size() == 2);
  CHECK(source->blobs_at_heads("b.md").value() == std::vector{git.blob_of(first, "b.md")});
  CHECK(source->blobs_at_heads("c.md").value() == std::vector{git.blob_of(first, "c.md")});
  CHECK(source->blobs_at_heads("d.md").value() == std::vector{git.blob_of(second, "d.md")});
  CHECK(source->blobs_at_heads("none.md").value().empty());
}

TEST_CASE("source: ancestry is strict, follows every parent, and ignores dropped commits") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  git.set_branch("side", first);
  const std::string side = git.set("a.md", "side").commit("side");
  const std::string second = git.set("a.md", "2").commit();
  const std::string merge = git.commit("main", {side});
  auto source = open(options(git));
  CHECK(source->is_strict_ancestor(first, merge).value());
  CHECK(source->is_strict_ancestor(side, merge).value());
  CHECK_FALSE(source->is_strict_ancestor(merge, first).value());
  CHECK_FALSE(source->is_strict_ancestor(side, second).value());
  CHECK_FALSE(source->is_strict_ancestor(first, first).value());
  CHECK_FALSE(source->is_strict_ancestor(first, std::string(40, 'a')).value());
}

TEST_CASE("source: revisions resolve for people") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  const std::string second = git.set("a.md", "2").commit();
  git.annotated_tag("v1", first);
  auto source = open(options(git, {}));
  CHECK(source->resolve("HEAD").value() == second);
  CHECK(source->resolve("main").value() == second);
  CHECK(source->resolve("HEAD~1").value() == first);
  CHECK(source->resolve(first.substr(0, 10)).value() == first);
  CHECK(source->resolve("v1").value() == first);
  CHECK(reason(source->resolve("nowhere")) == Reason::kUnknownCommit);
  CHECK(reason(source->resolve("HEAD:a.md")) == Reason::kUnknownCommit);
  CHECK(reason(source->resolve("")) == Reason::kUnknownCommit);
  CHECK(source->list(second).value().size() == 1);
}

TEST_CASE("source: what can't be opened is named") {
  GitFixture git;
  Options opts = options(git);
  opts.object_format = model::ObjectFormat::kSha256;
  CHECK(Source::open(opts, kClock).error().code == base::ErrorCode::kUnsupported);
  opts = options(git, {"main", "no such"});
  CHECK(Source::open(opts, kClock).error().code == base::ErrorCode::kInvalid);
  opts = options(git, {"../../etc"});
  CHECK(Source::open(opts, kClock).error().code == base::ErrorCode::kInvalid);
  opts.path = "/nonexistent";
  opts.branches = {"main"};
  CHECK(Source::open(opts, kClock).error().code == base::ErrorCode::kNotFound);
}

TEST_CASE("source: the user's and the machine's git configuration is not read") {
  GitFixture git;
  git.set("a.md", "x").commit();
  const test::TempDir home;
  std::ofstream(home.path() + "/.gitconfig") << "[broken\n";
  REQUIRE(setenv("HOME", home.path().c_str(), 1) == 0);
  CHECK(open(options(git))->refresh());
}

TEST_CASE("source: an open repository survives new commits, a repack and packed branches") {
  GitFixture git;
  const std::string first = git.set("a.md", "1").commit();
  auto source = open(options(git));
  REQUIRE(source->refresh());
  REQUIRE(source->find_blob(first, "a.md"));
  const std::string second = git.set("a.md", "2").commit();
  git.git({"gc", "--quiet", "--prune=now"});
  REQUIRE_FALSE(std::filesystem::exists(git.object_file(second)));
  REQUIRE(source->refresh());
  CHECK(source->on_branch(second));
  CHECK(source->read_blob(source->find_blob(second, "a.md").value()).value().content == "2");
  for (int round = 3; round < 6; ++round) {  // each gc removes the pack that is open
    const std::string content = std::to_string(round);
    const std::string next = git.set("a.md", content).commit();
    REQUIRE(source->refresh());
    CHECK(source->on_branch(next));
    git.git({"gc", "--quiet", "--prune=now"});
    REQUIRE(source->refresh());
    CHECK(source->read_blob(source->find_blob(next, "a.md").value()).value().content == content);
    CHECK(source->find_blob(first, "a.md"));
    CHECK(source->on_branch(first));
  }
  git.git({"multi-pack-index", "write"});
  const std::string last = git.set("a.md", "last").commit();
  git.git({"gc", "--quiet", "--prune=now"});
  REQUIRE(source->refresh());
  CHECK(source->read_blob(source->find_blob(last, "a.md").value()).value().content == "last");
}

TEST_CASE("source: a mirror that goes away is unavailable, and serves again when it is back") {
  GitFixture git;
  const std::string commit = git.set("a.md", "x").commit();
  auto source = open(options(git));
  REQUIRE(source->refresh());
  std::filesystem::rename(git.path(), git.path() + ".away");
  CHECK(reason(source->refresh()) == Reason::kSourceUnavailable);
  CHECK(detail(source->refresh()).find("gone") != std::string::npos);
  CHECK(reason(source->on_branch(commit)) == Reason::kSourceUnavailable);
  CHECK(reason(source->commit_exists(std::string(40, 'a'))) == Reason::kSourceUnavailable);
  CHECK(reason(source->find_blob(commit, "a.md")) == Reason::kSourceUnavailable);
  std::filesystem::rename(git.path() + ".away", git.path());
  CHECK(source->refresh());
  CHECK(source->find_blob(commit, "a.md"));
}

TEST_CASE("source: a large vault is answered in time") {
  GitFixture git;
  for (int i = 0; i < 5'000; ++i)
    git.set("folder-" + std::to_string(i % 50) + "/note-" + std::to_string(i) + ".md", "n");
  for (int i = 0; i < 5'000; ++i) git.set("flat/Notiz Ä" + std::to_string(i) + ".md", "n");
  const std::string old = git.commit();
  const std::string commit = git.commit_many("main", 2'000);
  git.git({"gc", "--quiet"});
  auto source = open(options(git));
  const auto timed = [](auto work) {  // processor time in microseconds: a busy machine does not count
    const std::clock_t begin = std::clock();
    work();
    return static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC;
  };
  const double first = timed([&] {
    REQUIRE(source->refresh());
    CHECK_FALSE(source->colliding_path(commit, "flat/Notiz Ä1.md").value());
  });
  const double walk = timed([&] { CHECK(source->on_branch(old)); });
  constexpr int kJobs = 2'000;
  const double jobs = timed([&] {
    for (int i = 0; i < kJobs; ++i) {
      const std::string path = i % 2 == 0 ? "flat/Notiz Ä" + std::to_string(i) + ".md"
                                          : "folder-" + std::to_string(i % 50) + "/note-" + std::to_string(i) + ".md";
      REQUIRE(source->commit_exists(old));
      REQUIRE(source->on_branch(old));
      REQUIRE(source->read_blob(source->find_blob(old, path).value()));
      REQUIRE_FALSE(source->colliding_path(old, path).value());
      REQUIRE(source->blobs_at_heads(path).value().size() == 1);
    }
  });
  const double refreshes = timed([&] {
    for (int i = 0; i < 1'000; ++i) REQUIRE(source->refresh());
  });
  INFO("first " << first << " us, walk " << walk << " us, job " << jobs / kJobs << " us, refresh " << refreshes / 1'000
                << " us");
  if (std::getenv("INTRAY_TIMES") != nullptr)
    WARN("first " << first << " us, walk " << walk << " us, job " << jobs / kJobs << " us, refresh "
                  << refreshes / 1'000 << " us");
  CHECK(first < 3e6);  // some 20 times what it takes: a quadratic mistake, not a slow machine
  CHECK(walk < 3e6);
  CHECK(jobs / kJobs < 5'000);
  CHECK(refreshes / 1'000 < 2'000);
}

}  // namespace
