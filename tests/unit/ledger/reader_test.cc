#include "ledger/reader.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using model::Event;
using model::Reason;
using model::ResultWord;
using model::State;

namespace {

std::vector<std::int64_t> listed(ledger::Reader& reader, const ledger::ListFilter& filter) {
  std::vector<std::int64_t> seqs;
  value_of(reader.list(filter, [&](const ledger::JobSummary& summary) { seqs.push_back(summary.job.seq.value); }));
  return seqs;
}

using Seqs = std::vector<std::int64_t>;

// Changes a row behind the guards, as somebody with write access to the file can.
void tamper(LedgerSite& site, const std::string& statement) {
  for (const char* trigger :
       {"audit_keep", "audit_stay", "audit_next", "lease_audit_keep", "lease_audit_stay", "lease_audit_next"}) {
    value_of(site.sql().execute("DROP TRIGGER IF EXISTS " + std::string(trigger)));
  }
  value_of(site.sql().execute(statement));
}

}  // namespace

TEST_CASE("reader: lists by state and order, with reason, result and holder") {
  LedgerSite site;
  auto failed = site.finish_of(site.executing(), Event::kNoEffect, ResultWord::kNoEffect);
  failed.reason = Reason::kTargetMissing;
  const auto ended = site.ended_by(failed);
  site.admit(site.job({.claim_now = false}));
  site.claimed();
  const auto reader = site.reader();
  CHECK(listed(*reader, {}) == Seqs{1, 2, 3});
  CHECK(listed(*reader, {.states = {}, .limit = 2, .newest_first = true}) == Seqs{3, 2});
  CHECK(listed(*reader, {.states = {State::kReady, State::kClaimed}}) == Seqs{2, 3});
  CHECK(listed(*reader, {.states = {State::kClaimed, State::kReady}, .limit = 1, .newest_first = true}) == Seqs{3});
  CHECK(listed(*reader, {.states = {State::kFailed}}) == Seqs{1});
  CHECK(listed(*reader, {.states = {State::kUnknown}}).empty());
  const auto one = value_of(reader->find(ended.receipt.job_id->str(), 10)).at(0);
  CHECK(one.reason == Reason::kTargetMissing);
  CHECK(one.result == ResultWord::kNoEffect);
  CHECK(one.finished_at == ended.receipt.finished_at);
  CHECK(one.last_audit == ended.receipt.audit_seq);
  CHECK_FALSE(one.worker_id);
}

TEST_CASE("reader: a job held by a dead owner is visible as such") {
  LedgerSite site;
  site.options.boot_id = "";  // the reader judges under the real boot id
  site.claimed();
  const auto summary = [&] {
    std::optional<ledger::JobSummary> found;
    value_of(site.reader()->list({}, [&](const ledger::JobSummary& one) { found = one; }));
    return *found;
  };
  CHECK(summary().worker_id == site.held.connector_id);
  CHECK(summary().lease_over);  // "boot-1" is not this machine's boot
}

TEST_CASE("reader: finds jobs by any prefix of the id, hyphens in their places") {
  LedgerSite site;
  const auto id = *base::JobId::parse("0b0e4e2a-1111-4222-8333-444455556666");
  const auto near_id = *base::JobId::parse("0b0e4e2b-1111-4222-8333-444455556666");
  site.admit(site.job({.job_id = id}));
  site.admit(site.job({.job_id = near_id}));
  const auto reader = site.reader();
  const auto hits = [&](const std::string& prefix) { return value_of(reader->find(prefix, 10)).size(); };
  CHECK(hits("") == 2);
  CHECK(hits("0b0e4e2") == 2);
  CHECK(hits("0b0e4e2a") == 1);
  CHECK(hits("0b0e4e2a-") == 1);
  CHECK(hits("0b0e4e2a-1") == 1);
  CHECK(hits(id.str()) == 1);
  CHECK(hits("0b0e4e2c") == 0);
  CHECK(hits("0B0E") == 0);
  CHECK(hits("0b0e4e2a1") == 0);
  CHECK(hits(id.str() + "0") == 0);
  CHECK(value_of(reader->find("0b", 1)).size() == 1);
}

TEST_CASE("reader: files that never became jobs, newest first, names escaped") {
  LedgerSite site;
  site.admit(site.bad_file());
  site.admit(site.bad_file(Reason::kOversized));
  std::vector<ledger::FileSummary> files;
  value_of(site.reader()->files(0, [&](const ledger::FileSummary& one) { files.push_back(one); }));
  REQUIRE(files.size() == 2);
  CHECK(files[0].reason == Reason::kOversized);
  CHECK(files[1].reason == Reason::kMalformedJson);
  CHECK(files[1].dropped_name == "evil\\x1b[2Jname");
  CHECK(files[1].owner_uid == 1001);
}

TEST_CASE("reader: the audit of all, of one job, from a row on") {
  LedgerSite site;
  const auto ended = site.applied();
  site.admit(site.bad_file());
  value_of(site->note(site.held, "STRAY", "a directory"));
  const auto reader = site.reader();
  const auto all = value_of(reader->audit(base::AuditSeq{0}, std::nullopt, 100));
  REQUIRE(all.size() == 7);
  CHECK(all[6].event == "STRAY");
  CHECK(all[6].detail == "a directory");
  CHECK(all[4].event == "EXECUTED");
  CHECK(all[4].row == "J09");
  CHECK(all[4].to_state == State::kSucceeded);
  CHECK(all[4].fence == base::Fence{1});
  CHECK(all[4].attempt);
  CHECK(value_of(reader->audit(base::AuditSeq{5}, std::nullopt, 100)).size() == 2);
  CHECK(value_of(reader->audit(base::AuditSeq{0}, ended.receipt.job_id, 100)).size() == 5);
  CHECK(value_of(reader->audit(base::AuditSeq{3}, ended.receipt.job_id, 1)).at(0).seq == base::AuditSeq{4});
  CHECK(value_of(reader->audit(base::AuditSeq{0}, base::JobId::generate(), 100)).empty());
}

TEST_CASE("reader: a rejected file under a job's id shows in that job's audit") {
  LedgerSite site;
  const auto id = base::JobId::generate();
  site.admit(site.job({.job_id = id}));
  site.admit(site.job({.job_id = id}));
  const auto rows = value_of(site.reader()->audit(base::AuditSeq{0}, id, 100));
  REQUIRE(rows.size() == 3);
  CHECK(rows[2].reason == Reason::kJobIdConflict);
}

TEST_CASE("audit: the chain of an untouched ledger holds, and each row follows the one before") {
  LedgerSite site;
  site.applied();
  site.admit(site.bad_file());
  const auto reader = site.reader();
  const auto report = value_of(reader->verify_chain());
  CHECK_FALSE(report.broken_at);
  CHECK(report.rows == 7);  // six of the jobs, one of the leases
  const auto rows = value_of(reader->audit(base::AuditSeq{0}, std::nullopt, 100));
  CHECK(report.head == rows.back().hash);
  CHECK(rows[0].prev_hash == base::Sha256{});
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i].prev_hash == rows[i - 1].hash);
}

TEST_CASE("audit: the hash is SHA-256 over the previous hash and the canonical row") {
  LedgerSite site;
  const auto admitted = site.admit(site.job({.claim_now = false}));
  const auto row = value_of(site.reader()->audit(base::AuditSeq{0}, std::nullopt, 1)).at(0);
  const std::string canonical = "{\"at\":" + std::to_string(base::to_us(row.at)) +
                                ",\"epoch\":1,\"event\":\"REQUESTED\"," + "\"from_state\":\"CREATED\",\"job_id\":\"" +
                                row.job_id->str() + "\",\"job_type\":\"C5_SAVE_OBJECT\",\"mission_id\":\"" +
                                row.mission_id->str() + "\",\"object_id\":\"" + row.object_id +
                                "\",\"provenance_hash\":\"" + row.provenance_hash->hex() +
                                "\",\"row\":\"J01\",\"seq\":1,\"to_state\":\"READY\"," + "\"worker_id\":\"" +
                                site.held.connector_id.str() + "\"}";
  CHECK(row.hash == base::sha256(std::string(32, '\0') + canonical));
}

TEST_CASE("audit: any changed, replaced, removed, reordered or appended row is found, and the first one is named") {
  LedgerSite site;
  site.applied();
  site.applied();
  struct Case {
    const char* statement;
    std::int64_t broken_at;
  };
  const auto c = GENERATE(
      Case{"UPDATE audit SET reason = 'PATH_COLLISION' WHERE seq = 5", 5},
      Case{"UPDATE audit SET at = at + 1 WHERE seq = 3", 3},
      Case{"UPDATE audit SET hash = randomblob(32) WHERE seq = 4", 4},
      Case{"UPDATE audit SET prev_hash = zeroblob(32) WHERE seq = 7", 7},
      Case{"UPDATE audit SET to_state = 'NOWHERE' WHERE seq = 2", 2}, Case{"DELETE FROM audit WHERE seq = 6", 6},
      Case{"DELETE FROM audit WHERE seq = 1", 1}, Case{"DELETE FROM audit WHERE seq >= 9", 9},
      Case{"REPLACE INTO audit SELECT a.seq, a.at, b.event, a.job_seq, b.job_id, b.mission_id, "
           "b.job_type, b.object_id, b.from_state, b.to_state, b.move, b.worker_id, b.claim_id, "
           "b.attempt, b.epoch, b.fence, b.reason, b.result, b.approval_id, b.provenance_hash, "
           "b.actor, b.detail, a.prev_hash, a.hash FROM audit a, audit b WHERE a.seq = 3 AND b.seq = 8",
           3},
      Case{"UPDATE audit SET seq = -seq WHERE seq IN (4, 5); UPDATE audit SET seq = 5 WHERE seq = -4; "
           "UPDATE audit SET seq = 4 WHERE seq = -5",
           4},
      Case{"UPDATE audit SET seq = seq + 1000 WHERE seq >= 6; UPDATE audit SET seq = seq - 1001 "
           "WHERE seq > 1006",
           6},
      Case{"UPDATE lease_audit SET outcome = 'REFUSED' WHERE seq = 1", 1});
  INFO(c.statement);
  tamper(site, c.statement);
  const auto report = value_of(site.reader()->verify_chain());
  REQUIRE(report.broken_at);
  CHECK(report.broken_at->value == c.broken_at);
  CHECK_FALSE(report.why.empty());
}

TEST_CASE("reader: works while the writer works, never blocks it, and each listing is one snapshot") {
  LedgerSite site;
  for (int i = 0; i < 10; ++i) site.admit(site.job());
  const auto reader = site.reader();
  int seen = 0;
  value_of(reader->list({}, [&](const ledger::JobSummary&) {
    ++seen;
    site.admit(site.job());  // the writer commits in the middle of the listing
  }));
  CHECK(seen == 10);
  CHECK(listed(*reader, {}).size() == 20);
  CHECK(value_of(reader->leases()).at(0).epoch == site.held.epoch);
}

TEST_CASE("reader: works after the executor stopped, and leaves the side files in place") {
  LedgerSite site;
  site.applied();
  site.close();
  for (int i = 0; i < 2; ++i) CHECK(listed(*site.reader(), {}) == Seqs{1});
  CHECK(std::filesystem::exists(site.options.path + "-wal"));
  CHECK(std::filesystem::exists(site.options.path + "-shm"));
}

TEST_CASE("reader: nothing there, not a ledger, a newer ledger") {
  LedgerSite site;
  const auto open = [&](const std::string& path) { return ledger::open_sqlite_reader(path, site.clock); };
  CHECK(open(site.dir.path() + "/none.db").error().code == base::ErrorCode::kNotFound);
  CHECK(open(site.dir.path() + "/none/ledger.db").error().code == base::ErrorCode::kNotFound);
  site.close();
  value_of(site.sql().execute("PRAGMA user_version = 99"));
  CHECK(open(site.options.path).error().code == base::ErrorCode::kUnsupported);
}

// As a member of the admin group sees it: everything readable, nothing writable. Root would see more, so a child gives
// root up first.
TEST_CASE("reader: read rights are enough, running or stopped; missing side files are said, never shown stale") {
  LedgerSite site;
  site.applied();
  const std::string path = site.options.path;
  const auto as_reader = [&](bool expect_open) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
      auto reader = ledger::open_sqlite_reader(path, site.clock);
      if (reader.has_value() != expect_open) ::_exit(1);
      if (!expect_open) ::_exit(reader.error().code == base::ErrorCode::kDenied ? 0 : 2);
      int jobs = 0;
      const auto listing = (*reader)->list({}, [&](const ledger::JobSummary&) { ++jobs; });
      ::_exit(listing && jobs == 1 ? 0 : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const auto read_only = [&] {
    for (const char* suffix : {"", "-wal", "-shm"}) ::chmod((path + suffix).c_str(), 0444);
    ::chmod(site.dir.path().c_str(), 0555);
  };
  read_only();
  CHECK(as_reader(true) == 0);
  ::chmod(site.dir.path().c_str(), 0755);
  site.close();
  read_only();
  CHECK(as_reader(true) == 0);
  ::chmod(site.dir.path().c_str(), 0755);
  std::filesystem::remove(path + "-wal");
  std::filesystem::remove(path + "-shm");
  read_only();
  CHECK(as_reader(false) == 0);
  ::chmod(site.dir.path().c_str(), 0755);
}
