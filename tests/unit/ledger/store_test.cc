#include "ledger/sqlite/store.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ledger/sqlite/schema.h"
#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using ledger::Admission;
using model::Event;
using model::ResultWord;
using model::State;

namespace {

std::uint32_t mode_of(const std::string& path) {
  struct stat st {};
  REQUIRE(::stat(path.c_str(), &st) == 0);
  return st.st_mode & 07777U;
}

}  // namespace

TEST_CASE("store: one batch is one commit, whatever it holds") {
  LedgerSite site;
  std::vector<Hand> hands;
  for (int i = 0; i < 6; ++i) hands.push_back(i < 3 ? site.executing() : site.claimed());
  ledger::Batch batch;
  for (int i = 0; i < 3; ++i)
    batch.finishes.push_back(site.finish_of(hands[static_cast<std::size_t>(i)], Event::kConfirm, ResultWord::kApplied));
  for (int i = 3; i < 6; ++i)
    batch.starts.push_back(site.start_of(hands[static_cast<std::size_t>(i)], std::to_string(i)));
  for (int i = 0; i < 10; ++i) batch.admits.push_back(site.job());
  batch.admits.push_back(site.bad_file());
  batch.notes.push_back({"STRAY", "a directory"});
  batch.claim_max = 5;
  batch.expire = true;
  const auto before = site->counters().commits;
  const auto result = site.commit(batch);
  CHECK(site->counters().commits == before + 1);
  CHECK(result.finished == std::vector{true, true, true});
  CHECK(result.admitted.size() == 11);
  CHECK(site.text("SELECT event FROM audit ORDER BY seq DESC LIMIT 1") == "STRAY");
}

TEST_CASE("store: an empty batch touches nothing") {
  LedgerSite site;
  const auto before = site->counters();
  site.commit({});
  CHECK(site->counters().commits == before.commits);
  CHECK(site->counters().rows == before.rows);
}

TEST_CASE("store: a commit survives SIGKILL right after it returned; the next opening checks every page") {
  LedgerSite site;
  site.close();
  const pid_t child = ::fork();
  if (child == 0) {
    auto opened = site.try_open();
    if (!opened) ::_exit(1);
    ledger::Batch batch;
    for (int i = 0; i < 50; ++i) batch.admits.push_back(site.job());
    if (!(*opened)->commit(site.held, batch)) ::_exit(2);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(site.number("SELECT count(*) FROM writers") == 1);
  site.open();
  CHECK(site.number("SELECT count(*) FROM writers WHERE pid = " + std::to_string(::getpid())) == 1);
  CHECK(site.number("SELECT count(*) FROM jobs WHERE state = 'CLAIMED'") == 50);
  CHECK_FALSE(value_of(site.reader()->verify_chain()).broken_at);
  site.close();
  CHECK(site.number("SELECT count(*) FROM writers") == 0);
}

TEST_CASE("store: a second process that opens the ledger of a living one signs in beside it") {
  LedgerSite site;
  {
    const auto peer = site.second();
    CHECK(site.number("SELECT count(*) FROM writers") == 2);
  }
  CHECK(site.number("SELECT count(*) FROM writers") == 1);
}

TEST_CASE("store: a transaction cut off by SIGKILL left nothing") {
  LedgerSite site;
  site.close();
  const pid_t child = ::fork();
  if (child == 0) {
    using ledger::sqlite::Database;
    auto db = Database::open(site.options.path, Database::Mode::kWrite, base::Micros{0});
    if (!db || !db->execute("BEGIN IMMEDIATE; UPDATE ledger SET fence = 1000")) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  site.open();
  CHECK(site.number("SELECT fence FROM ledger") == 0);
}

TEST_CASE("store: identity, counters and jobs live on through a reopening") {
  LedgerSite site;
  const auto id = site->id();
  CHECK(site->ledger_epoch() == 1);
  const Hand hand = site.executing();
  site.close();
  site.open();
  CHECK(site->id() == id);
  CHECK(site->still_holds(site.held));
  const Hand next = site.claimed();
  CHECK(next.seq == base::JobSeq{hand.seq.value + 1});
  CHECK(site.number("SELECT fence FROM jobs WHERE seq = 2") == 2);
}

TEST_CASE("store: a ledger of an earlier version gets what was added since, once, and is not shown before") {
  LedgerSite site;
  site.applied();
  site.close();
  value_of(site.sql().execute("DROP INDEX jobs_unknown"));
  value_of(site.sql().execute("PRAGMA user_version = 1"));
  const auto early = ledger::open_sqlite_reader(site.options.path, site.clock);
  REQUIRE_FALSE(early);
  CHECK(early.error().code == base::ErrorCode::kUnsupported);
  CHECK(early.error().what.find("the next start of its executor") != std::string::npos);
  for (int start = 0; start < 2; ++start) {
    site.open();
    CHECK(value_of(site->waiting()).unknown == 0);
    site.close();
    CHECK(value_of(site.sql().read_integer("PRAGMA user_version")) == ledger::sqlite::kSchemaVersion);
  }
  CHECK(ledger::open_sqlite_reader(site.options.path, site.clock));
}

TEST_CASE("store: a version of a ledger that there never was is refused") {
  LedgerSite site;
  site.close();
  value_of(site.sql().execute("PRAGMA user_version = 0"));
  CHECK(site.try_open().error().code == base::ErrorCode::kCorrupt);
}

TEST_CASE("store: a newer version is refused, and so is what is no ledger or another kind's") {
  LedgerSite site;
  site.close();
  SECTION("newer") {
    value_of(site.sql().execute("PRAGMA user_version = 99"));
    CHECK(site.try_open().error().code == base::ErrorCode::kUnsupported);
  }
  SECTION("another application's database") {
    value_of(site.sql().execute("PRAGMA application_id = 1"));
    CHECK(site.try_open().error().code == base::ErrorCode::kCorrupt);
  }
  SECTION("not a database") {
    std::filesystem::remove(site.options.path);
    std::filesystem::remove(site.options.path + "-wal");
    FILE* file = std::fopen(site.options.path.c_str(), "w");
    REQUIRE(file != nullptr);
    for (int i = 0; i < 1000; ++i) std::fputs("no database ", file);
    std::fclose(file);
    CHECK(site.try_open().error().code == base::ErrorCode::kCorrupt);
  }
  SECTION("the other kind") {
    site.options.kind = model::JobKind::kDelete;
    CHECK(site.try_open().error().code == base::ErrorCode::kInvalid);
  }
  SECTION("no directory") {
    site.options.path = site.dir.path() + "/none/ledger.db";
    CHECK(site.try_open().error().code == base::ErrorCode::kNotFound);
  }
}

TEST_CASE("store: damage found after an unclean stop keeps the executor from starting") {
  LedgerSite site;
  ledger::Batch batch;
  for (int i = 0; i < 200; ++i) batch.admits.push_back(site.job());
  site.commit(batch);
  const auto root = site.number("SELECT rootpage FROM sqlite_schema WHERE name = 'audit'");
  const auto page = site.number("PRAGMA page_size");
  site.close();
  value_of(site.sql().execute(
      "INSERT INTO writers (boot_id, pid, start_ticks, opened_at) VALUES ('an earlier boot', 1, 1, 1)"));
  value_of(site.sql().read_text("PRAGMA wal_checkpoint(TRUNCATE)"));
  FILE* file = std::fopen(site.options.path.c_str(), "r+");
  REQUIRE(file != nullptr);
  REQUIRE(std::fseek(file, static_cast<long>((root - 1) * page), SEEK_SET) == 0);
  for (int i = 0; i < 200; ++i) std::fputc(0xAA, file);
  std::fclose(file);
  const auto opened = site.try_open();
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == base::ErrorCode::kCorrupt);
}

TEST_CASE("store: a full database refuses the batch, changes nothing, and takes it once there is room") {
  LedgerSite site;
  // A small ledger: SQLite's own limit stands in for a full disk.
  const auto limit = [&](std::int64_t pages) {
    auto& store = dynamic_cast<ledger::sqlite::Store&>(*site);
    return value_of(store.limit_pages_for_test(pages));
  };
  const auto pages = site.number("PRAGMA page_count");
  limit(pages + 2);
  ledger::Batch batch;
  for (int i = 0; i < 100; ++i) batch.admits.push_back(site.job());
  const auto refused = site->commit(site.held, batch);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::kNoSpace);
  CHECK(site.number("SELECT count(*) FROM jobs") == 0);
  CHECK(site.number("SELECT count(*) FROM audit") == 0);
  CHECK(site.number("SELECT fence FROM ledger") == 0);
  limit(1'000'000);
  CHECK(site.commit(batch).admitted.size() == 100);
  CHECK(site.number("SELECT max(fence) FROM jobs") == 100);
  CHECK_FALSE(value_of(site.reader()->verify_chain()).broken_at);
}

TEST_CASE("store: a ledger locked past the timeout is busy, changes nothing, and goes on afterwards") {
  LedgerSite site;
  value_of(site.sql().execute("BEGIN IMMEDIATE"));
  ledger::Batch batch;
  batch.admits.push_back(site.job());
  const auto refused = site->commit(site.held, batch);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::kBusy);
  CHECK(site->heartbeat(site.held, kTtl).error().code == base::ErrorCode::kBusy);
  value_of(site.sql().execute("ROLLBACK"));
  CHECK(site.commit(batch).admitted[0].admission == Admission::kClaimed);
}

TEST_CASE("store: the files have exactly the mode asked for, whatever the umask") {
  const mode_t before = ::umask(0077);
  LedgerSite site;
  site.options.reserve_bytes = 64 * 1024;
  site.close();
  std::filesystem::remove(site.options.path);
  std::filesystem::remove(site.options.path + "-wal");
  std::filesystem::remove(site.options.path + "-shm");
  site.open();
  ::umask(before);
  site.held = site.hold();
  for (const char* suffix : {"", "-wal", "-shm"}) CHECK(mode_of(site.options.path + suffix) == 0640);
  CHECK(mode_of(site.dir.path() + "/ledger.reserve") == 0640);
}

TEST_CASE("store: the reserve holds room until it is given up, once, and comes back at the next opening") {
  LedgerSite site;
  site.options.reserve_bytes = 1024 * 1024;
  site.close();
  site.open();
  const std::string reserve = site.dir.path() + "/ledger.reserve";
  struct stat st {};
  REQUIRE(::stat(reserve.c_str(), &st) == 0);
  CHECK(st.st_size == 1024 * 1024);
  CHECK(st.st_blocks * 512 >= 1024 * 1024);
  CHECK(site->give_up_reserve());
  REQUIRE(::stat(reserve.c_str(), &st) == 0);
  CHECK(st.st_blocks == 0);  // the room is free, by the open file alone: a confined process reaches no path
  CHECK_FALSE(site->give_up_reserve());
  site.close();
  site.open();
  REQUIRE(::stat(reserve.c_str(), &st) == 0);
  CHECK(st.st_blocks * 512 >= 1024 * 1024);
}

TEST_CASE("store: durability settings are what the design asks for") {
  LedgerSite site;
  auto& store = dynamic_cast<ledger::sqlite::Store&>(*site);
  CHECK(value_of(store.pragma_for_test("journal_mode")) == "wal");
  CHECK(value_of(store.pragma_for_test("synchronous")) == "2");
  CHECK(value_of(store.pragma_for_test("foreign_keys")) == "1");
  CHECK(value_of(store.pragma_for_test("mmap_size")) == "0");
  CHECK(site.number("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE "
                    "'sqlite_%' AND strict = 0") == 0);
}
