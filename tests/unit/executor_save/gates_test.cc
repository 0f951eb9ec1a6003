#include "executor/save/gates.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "git_fixture.h"
#include "model/effect.h"

using namespace intray;
using executor::save::Findings;
using executor::save::GateFailure;
using executor::save::GateRules;
using executor::save::Gates;
using executor::save::LastApplied;
using model::Reason;
using test::GitFixture;

namespace {

const base::FakeClock kClock;
constexpr std::string_view kCredential = "t0k3n-of-this-executor";

std::string note(const std::string& id, const std::string& state, const std::string& body) {
  return "---\nid: " + id + "\nstatus: " + state + "\n---\n" + body + "\n";
}

// A vault in the folder "vault" of a repository, a site's rules, and jobs that a truthful requester would make.
struct Site {
  Site() {
    rules.vault_root = "/app/vault";
    rules.prefix = "vault";
    rules.note.id_from_front_matter = true;
  }

  source::Source& source() {
    if (!source_) {
      source::Options options;
      options.path = git.path();
      options.branches = branches;
      options.content_bytes_max = 100'000;
      options.bare_only = true;
      auto opened = source::Source::open(options, kClock);
      if (!opened) FAIL(opened.error().what);
      source_ = std::move(*opened);
    }
    return *source_;
  }

  // What `intray submit save` would write for this note.
  ledger::JobFacts job(const std::string& commit, const std::string& path = "a.md") {
    ledger::JobFacts out;
    out.vault_path = "/app/vault/" + path;
    out.commit = commit;
    const std::string repository_path = (rules.prefix.empty() ? "" : rules.prefix + "/") + path;
    source::NoteFacts facts{"n-1", "UNSET", {}};
    if (const auto blob = source().find_blob(commit, repository_path))
      facts = source::describe_note(source().read_blob(*blob).value().content, repository_path, rules.note);
    out.object_id = facts.object_id;
    out.expected_state = facts.state;
    out.provenance_hash =
        model::provenance_hash(commit, facts.content_sha256, facts.object_id, repository_path, facts.state);
    return out;
  }

  Gates gates() { return {source(), content_rules, rules}; }

  std::expected<Findings, GateFailure> evaluate(const ledger::JobFacts& facts,
                                                const std::optional<LastApplied>& last = std::nullopt) {
    REQUIRE(source().refresh());
    return gates().evaluate(facts, kCredential, last);
  }

  // Which gate said no, and why.
  std::pair<int, Reason> refused(const ledger::JobFacts& facts, const std::optional<LastApplied>& last = std::nullopt) {
    const auto out = evaluate(facts, last);
    REQUIRE_FALSE(out);
    CHECK(out.error().name == Gates::names()[static_cast<std::size_t>(out.error().gate - 1)]);
    CHECK_FALSE(out.error().refusal.detail.empty());
    detail = out.error().refusal.detail;
    return {out.error().gate, out.error().refusal.reason};
  }

  GitFixture git;
  std::vector<std::string> branches{"main"};
  GateRules rules;
  source::ContentRules content_rules = source::ContentRules::compile({"SECRET-[0-9]+"}).value();
  std::string detail;

 private:
  std::unique_ptr<source::Source> source_;
};

std::pair<int, Reason> gate(int number, Reason reason) { return {number, reason}; }
LastApplied applied(Site& site, const std::string& commit, const std::string& path = "vault/a.md") {
  const auto blob = site.source().find_blob(commit, path);
  REQUIRE(blob);
  return {commit, base::sha256(site.source().read_blob(*blob).value().content)};
}

TEST_CASE("gates: a truthful job passes all eight, and what they found is git's") {
  Site site;
  const std::string content = note("n-1", "active", "Grüße");
  const std::string commit = site.git.set("vault/a.md", content).commit();
  const ledger::JobFacts job = site.job(commit);
  const auto found = site.evaluate(job);
  REQUIRE(found);
  CHECK(found->repository_path == "vault/a.md");
  CHECK(found->blob_id == site.git.blob_of(commit, "vault/a.md"));
  CHECK(found->content == content);
  CHECK(found->content_sha256 == base::sha256(content));
  CHECK_FALSE(site.gates().recheck_head(job, *found, std::nullopt));
}

TEST_CASE("gates: they have fixed names, in order") {
  CHECK(Gates::names() == std::array<std::string_view, 8>{"COMMIT_EXISTS", "COMMIT_ON_BRANCH", "OBJECT_IN_TREE",
                                                          "OBJECT_ID", "STATE", "CONTENT", "PROVENANCE", "NOT_STALE"});
}

TEST_CASE("gates: prefix and id rule are the site's") {
  Site site;
  site.rules.note.id_from_front_matter = false;
  SECTION("no prefix") {
    site.rules.prefix = "";
    const auto job = site.job(site.git.set("a.md", "plain").commit());
    CHECK(job.object_id == model::object_id_from_path("a.md"));
    CHECK(site.evaluate(job));
  }
  SECTION("a prefix with a slash at its end") {
    auto job = site.job(site.git.set("vault/a.md", "plain").commit());
    site.rules.prefix = "vault/";
    CHECK(site.evaluate(job));
  }
  SECTION("a note beside the prefix is none of the vault") {
    const std::string commit = site.git.set("a.md", "outside").set("vault/b.md", "inside").commit();
    CHECK(site.refused(site.job(commit)) == gate(3, Reason::kUnknownObject));
  }
}

TEST_CASE("gate 1: what is no commit of the repository is unknown") {
  Site site;
  const std::string commit = site.git.set("vault/a.md", note("n-1", "active", "x")).commit();
  ledger::JobFacts job = site.job(commit);
  for (const std::string& other :
       {std::string(40, 'a'), commit.substr(0, 12), commit + "00", std::string("main"),
        site.git.annotated_tag("v1", commit), site.git.tree_of(commit), site.git.blob_of(commit, "vault/a.md")}) {
    job.commit = other;
    CHECK(site.refused(job) == gate(1, Reason::kUnknownCommit));
  }
}

TEST_CASE("gate 2: a commit on no configured branch has no authority") {
  Site site;
  const std::string first = site.git.set("vault/a.md", note("n-1", "active", "x")).commit();
  site.git.set_branch("dropped", first);
  const std::string dropped = site.git.set("vault/a.md", note("n-1", "active", "y")).commit("dropped");
  const std::string loose = site.git.commit_loose({first});
  const std::string orphan = site.git.commit_loose({});
  CHECK(site.refused(site.job(dropped)) == gate(2, Reason::kCommitNotOnBranch));  // a branch, and not a configured one
  site.git.delete_branch("dropped");
  CHECK(site.refused(site.job(dropped)) == gate(2, Reason::kCommitNotOnBranch));
  CHECK(site.refused(site.job(loose)) == gate(2, Reason::kCommitNotOnBranch));
  CHECK(site.refused(site.job(orphan)) == gate(2, Reason::kCommitNotOnBranch));
}

TEST_CASE("gate 3: only a regular file at exactly this path is an object") {
  Site site;
  const std::string first = site.git.set("vault/a.md", "x").commit();
  site.git.set("vault/exec.md", "x", GitFixture::kExecutable).set("vault/link.md", "a.md", GitFixture::kSymlink);
  site.git.set("vault/linked", "elsewhere", GitFixture::kSymlink).set("elsewhere/b.md", "x");
  site.git.set_submodule("vault/sub.md", first).set_submodule("vault/module", first).set("vault/folder.md/c.md", "x");
  site.git.set("vault/a\u0308.md", "decomposed").set("vault/\u00F6.md", note("n-2", "s", "composed"));
  const std::string commit = site.git.commit();
  for (const std::string path : {"none.md", "exec.md", "link.md", "linked/b.md", "sub.md", "module/x.md", "folder.md",
                                 "\u00E4.md", "A.md", "a.md/b.md", "../vault/a.md", "/a.md"}) {
    INFO(path);
    CHECK(site.refused(site.job(commit, path)) == gate(3, Reason::kUnknownObject));
  }
  CHECK(site.refused(site.job(commit, "exec.md")).first == 3);
  CHECK(site.detail.find("executable") != std::string::npos);
  CHECK(site.evaluate(site.job(commit, "\u00F6.md")));
  ledger::JobFacts job = site.job(commit);
  for (const std::string path : {"/app/vault", "/app/vault/", "/app/vaultx/a.md", "a.md", ""}) {
    job.vault_path = path;
    CHECK(site.refused(job) == gate(3, Reason::kUnsafePath));
  }
}

TEST_CASE("gate 3: a path that differs in case only from another of the tree is refused") {
  Site site;
  site.git.set("vault/A.md", note("n-1", "s", "1")).set("vault/a.md", note("n-2", "s", "2"));
  site.git.set("Vault/b.md", "other root")
      .set("vault/b.md", note("n-3", "s", "3"))
      .set("vault/c.md", note("n-4", "s", "4"));
  const std::string commit = site.git.commit();
  CHECK(site.refused(site.job(commit, "a.md")) == gate(3, Reason::kPathCollision));
  CHECK(site.detail.find("'vault/A.md'") != std::string::npos);
  CHECK(site.refused(site.job(commit, "A.md")) == gate(3, Reason::kPathCollision));
  CHECK(site.refused(site.job(commit, "b.md")) == gate(3, Reason::kPathCollision));
  CHECK(site.evaluate(site.job(commit, "c.md")));
}

TEST_CASE("gate 3: the commit's own tree counts, not its parents' and not the head's") {
  Site site;
  const std::string first = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  site.git.set_branch("side", first);
  const std::string side = site.git.set("vault/side.md", note("n-2", "s", "2")).commit("side");
  site.git.remove("vault/side.md");
  const std::string merge = site.git.commit("main", {side});  // a merge that threw the side's note away
  CHECK(site.refused(site.job(merge, "side.md")) == gate(3, Reason::kUnknownObject));
  CHECK(site.refused(site.job(first, "side.md")) == gate(3, Reason::kUnknownObject));
  CHECK(site.evaluate(site.job(merge)));
  CHECK(site.refused(site.job(side, "side.md")) == gate(8, Reason::kStaleSource));
}

TEST_CASE("gate 4: the object id is the note's own") {
  Site site;
  const std::string commit = site.git.set("vault/a.md", note("n-1", "s", "1"))
                                 .set("vault/none.md", "no front matter")
                                 .set("vault/broken.md", "---\nid: [\n---\n")
                                 .set("vault/twice.md", "---\nid: n-1\nid: n-1\n---\n")
                                 .commit();
  ledger::JobFacts job = site.job(commit);
  job.object_id = "n-2";
  CHECK(site.refused(job) == gate(4, Reason::kObjectIdMismatch));
  CHECK(site.detail.find("'n-2'") != std::string::npos);
  CHECK(site.detail.find("'n-1'") != std::string::npos);
  for (const std::string path : {"none.md", "broken.md", "twice.md"}) {
    job = site.job(commit, path);
    job.object_id = "n-1";
    CHECK(site.refused(job) == gate(4, Reason::kObjectIdMismatch));
  }
  site.rules.note.id_from_front_matter = false;
  job = site.job(commit, "broken.md");
  CHECK(job.expected_state == "OTHER");
  CHECK(site.evaluate(job));  // unreadable front matter is a mismatch only where the id should come from it
  job.object_id = model::object_id_from_path("broken.md");
  CHECK(site.refused(job) == gate(4, Reason::kObjectIdMismatch));
}

TEST_CASE("gate 5: the state is the note's own, UNSET or OTHER") {
  Site site;
  site.rules.note.id_from_front_matter = false;
  const std::string commit = site.git.set("vault/a.md", note("n-1", "active", "1"))
                                 .set("vault/unset.md", "text")
                                 .set("vault/other.md", "---\nstatus: [a]\n---\n")
                                 .commit();
  for (const auto& [path, state] : std::vector<std::pair<std::string, std::string>>{
           {"a.md", "active"}, {"unset.md", "UNSET"}, {"other.md", "OTHER"}}) {
    ledger::JobFacts job = site.job(commit, path);
    CHECK(job.expected_state == state);
    CHECK(site.evaluate(job));
    for (const std::string wrong : {"active", "Active", "UNSET", "OTHER", ""}) {
      if (wrong == state) continue;
      job.expected_state = wrong;
      CHECK(site.refused(job) == gate(5, Reason::kStateMismatch));
    }
  }
}

TEST_CASE("gate 6: what is no text, too large or secret never leaves") {
  Site site;
  site.rules.note.id_from_front_matter = false;
  const std::string commit = site.git
                                 .set("vault/latin1.md",
                                      "Gr\xFC\xDF"
                                      "e")
                                 .set("vault/nul.md", std::string("a\0b", 3))
                                 .set("vault/large.md", std::string(100'001, 'x'))
                                 .set("vault/full.md", std::string(100'000, 'x'))
                                 .set("vault/key.md", "# x\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")
                                 .set("vault/pattern.md", "the SECRET-42 of all")
                                 .set("vault/own.md", "token: " + std::string(kCredential))
                                 .commit();
  const auto refused = [&](const std::string& path) { return site.refused(site.job(commit, path)); };
  CHECK(refused("latin1.md") == gate(6, Reason::kContentNotText));
  CHECK(refused("nul.md") == gate(6, Reason::kContentNotText));
  CHECK(refused("large.md") == gate(6, Reason::kContentTooLarge));
  CHECK(refused("key.md") == gate(6, Reason::kSecretDetected));
  CHECK(refused("pattern.md") == gate(6, Reason::kSecretDetected));
  CHECK(site.detail.find("42") == std::string::npos);
  CHECK(refused("own.md") == gate(6, Reason::kSecretDetected));
  CHECK(site.detail.find(kCredential) == std::string::npos);
  CHECK(site.evaluate(site.job(commit, "full.md")));
}

TEST_CASE("gate 7: the provenance hash is recomputed over every member") {
  Site site;
  const std::string commit = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  const std::string same_tree = site.git.commit();
  ledger::JobFacts job = site.job(commit);
  job.provenance_hash.bytes[31] ^= 1;
  CHECK(site.refused(job) == gate(7, Reason::kProvenanceMismatch));
  CHECK(site.detail.find(job.provenance_hash.hex()) != std::string::npos);
  job = site.job(commit);
  job.commit = same_tree;  // the same content under another commit is another provenance
  CHECK(site.refused(job) == gate(7, Reason::kProvenanceMismatch));
  CHECK(site.evaluate(site.job(same_tree)));
}

TEST_CASE("gate 8: a note that git deleted or changed since is not saved") {
  Site site;
  const std::string first =
      site.git.set("vault/a.md", note("n-1", "s", "1")).set("vault/b.md", note("n-2", "s", "2")).commit();
  site.git.remove("vault/a.md").set("vault/b.md", note("n-2", "s", "changed"));
  const std::string second = site.git.commit();
  for (const bool historical : {false, true}) {
    site.rules.historical = historical;
    CHECK(site.refused(site.job(first)) == gate(8, Reason::kStaleSource));
    CHECK(site.evaluate(site.job(second, "b.md")));
  }
  CHECK(site.evaluate(site.job(first, "b.md")));  // historical: an older blob of a path that is still there
  site.rules.historical = false;
  CHECK(site.refused(site.job(first, "b.md")) == gate(8, Reason::kStaleSource));
  site.git.set("vault/b.md", note("n-2", "s", "2")).commit();
  CHECK(site.evaluate(site.job(first, "b.md")));  // git went back to it: the blob at the head is what counts
}

TEST_CASE("gate 8: the path at the head must be a file, and any configured branch's head will do") {
  Site site;
  site.branches = {"main", "release"};
  const std::string first = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  site.git.set_branch("release", first);
  site.git.set("vault/a.md", note("n-1", "s", "2")).commit();
  CHECK(site.evaluate(site.job(first)));
  site.git.remove("vault/a.md").set("vault/a.md/inside.md", "x").commit("release");
  CHECK(site.refused(site.job(first)) == gate(8, Reason::kStaleSource));
  site.git.clear().set("vault/a.md", note("n-1", "s", "1"), GitFixture::kSymlink).commit("release");
  site.git.clear().commit("main");
  CHECK(site.refused(site.job(first)) == gate(8, Reason::kStaleSource));
}

TEST_CASE("gate 8: nothing older by ancestry follows what was last applied") {
  Site site;
  const std::string one = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  const std::string two = site.git.set("vault/a.md", note("n-1", "s", "2")).commit();
  const std::string three = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();  // git went back
  site.git.set("vault/other.md", "x");
  const std::string four = site.git.commit();

  SECTION("the blob of the head, from before what was last applied, would undo it") {
    CHECK(site.refused(site.job(one), applied(site, two)) == gate(8, Reason::kStaleSource));
    CHECK(site.evaluate(site.job(three), applied(site, two)));
    CHECK(site.evaluate(site.job(four), applied(site, two)));
  }
  SECTION("where it changes nothing it may be said again") {
    CHECK(site.evaluate(site.job(one), applied(site, three)));
    CHECK(site.evaluate(site.job(three), applied(site, four)));
    CHECK(site.evaluate(site.job(four), applied(site, four)));
  }
  SECTION("historical: older blobs in order only") {
    site.rules.historical = true;
    CHECK(site.evaluate(site.job(two), applied(site, one)));
    CHECK(site.evaluate(site.job(two), applied(site, two)));
    CHECK(site.refused(site.job(two), applied(site, three)) == gate(8, Reason::kStaleSource));
    CHECK(site.refused(site.job(two), applied(site, four)) == gate(8, Reason::kStaleSource));
    CHECK(site.refused(site.job(one), applied(site, two)) == gate(8, Reason::kStaleSource));
    CHECK(site.detail.find(two) != std::string::npos);
  }
  SECTION("by ancestry and not by time: a commit of another line is not older") {
    site.rules.historical = true;
    site.git.set_branch("side", one);
    const std::string side = site.git.set("vault/a.md", note("n-1", "s", "side")).commit("side");
    site.git.set("vault/a.md", note("n-1", "s", "1"));
    site.git.commit("main", {side});
    CHECK(site.evaluate(site.job(two), applied(site, side)));
    CHECK(site.evaluate(site.job(side), applied(site, two)));
  }
  SECTION("a commit that git has no more holds nothing back") {
    CHECK(site.evaluate(site.job(one), LastApplied{std::string(40, 'a'), base::sha256("x")}));
  }
}

TEST_CASE("gate 8 again: only what changed at the heads matters") {
  Site site;
  const std::string commit = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  ledger::JobFacts job = site.job(commit);
  const auto found = site.evaluate(job);
  REQUIRE(found);
  const Gates gates = site.gates();
  CHECK_FALSE(gates.recheck_head(job, *found, std::nullopt));
  const std::string next = site.git.set("vault/a.md", note("n-1", "s", "2")).commit();
  CHECK_FALSE(gates.recheck_head(job, *found, std::nullopt));  // the heads are those of the last refresh
  REQUIRE(site.source().refresh());
  auto failure = gates.recheck_head(job, *found, std::nullopt);
  REQUIRE(failure);
  CHECK(failure->gate == 8);
  CHECK(failure->name == "NOT_STALE");
  CHECK(failure->refusal.reason == Reason::kStaleSource);
  site.rules.historical = true;
  const Gates historical = site.gates();
  CHECK_FALSE(historical.recheck_head(job, *found, std::nullopt));
  failure = historical.recheck_head(job, *found, applied(site, next));
  REQUIRE(failure);
  CHECK(failure->refusal.reason == Reason::kStaleSource);
}

TEST_CASE("gates: a mirror that can't be read makes a job wait, at every gate") {
  Site site;
  const std::string commit = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  const ledger::JobFacts job = site.job(commit);
  const auto found = site.evaluate(job);
  REQUIRE(found);
  std::filesystem::rename(site.git.path(), site.git.path() + ".away");
  CHECK_FALSE(site.source().refresh());
  ledger::JobFacts unknown = job;
  unknown.commit = std::string(40, 'a');
  for (const auto& facts : {job, unknown}) {
    const auto out = site.gates().evaluate(facts, kCredential, std::nullopt);
    REQUIRE_FALSE(out);
    CHECK(out.error().refusal.reason == Reason::kSourceUnavailable);
  }
  const auto again = site.gates().recheck_head(job, *found, std::nullopt);
  REQUIRE(again);
  CHECK(again->refusal.reason == Reason::kSourceUnavailable);
  std::filesystem::rename(site.git.path() + ".away", site.git.path());
  CHECK(site.evaluate(job));
}

TEST_CASE("gates: the first that fails speaks") {
  Site site;
  const std::string first = site.git.set("vault/a.md", note("n-1", "s", "1")).commit();
  const std::string bad = site.git.set("vault/a.md", note("n-1", "s", "SECRET-1")).commit();
  site.git.set("vault/a.md", note("n-1", "s", "3")).commit();
  ledger::JobFacts job = site.job(bad);  // secret and stale
  CHECK(site.refused(job) == gate(6, Reason::kSecretDetected));
  job.provenance_hash = {};
  CHECK(site.refused(job) == gate(6, Reason::kSecretDetected));
  job.expected_state = "x";
  CHECK(site.refused(job) == gate(5, Reason::kStateMismatch));
  job.object_id = "n-9";
  CHECK(site.refused(job) == gate(4, Reason::kObjectIdMismatch));
  job.vault_path = "/app/vault/none.md";
  CHECK(site.refused(job) == gate(3, Reason::kUnknownObject));
  job.commit = site.git.commit_loose({first});
  CHECK(site.refused(job) == gate(2, Reason::kCommitNotOnBranch));
  job.commit = std::string(40, 'a');
  CHECK(site.refused(job) == gate(1, Reason::kUnknownCommit));
}

}  // namespace
