#include "ledger/sqlite/schema.h"

#include <catch2/catch.hpp>

#include "ledger_site.h"

using namespace intray;
using namespace intray::test;
using model::State;

namespace {

State state_at(int i) { return static_cast<State>(i); }
std::string word(State state) { return std::string(model::to_word(state)); }

// Puts the one job into any state, past the guard, and puts the guard back.
void force_state(LedgerSite& site, model::JobKind kind, State state) {
  auto& sql = site.sql();
  value_of(sql.execute("DROP TRIGGER jobs_move"));
  value_of(sql.execute("UPDATE jobs SET state = '" + word(state) + "'"));
  value_of(sql.execute(ledger::sqlite::move_trigger(kind)));
}

bool is_refused(const base::Result<void>& result, const std::string& why) {
  return !result && result.error().what.find(why) != std::string::npos;
}

}  // namespace

TEST_CASE("schema: the database accepts exactly the moves of the model's table") {
  const auto kind = GENERATE(model::JobKind::kSave, model::JobKind::kDelete);
  LedgerSite site(kind);
  site.admit(site.job({.kind = kind, .claim_now = false}));
  int legal = 0;
  for (int i = 0; i < model::kStates; ++i) {
    for (int j = 0; j < model::kStates; ++j) {
      INFO(word(state_at(i)) << " to " << word(state_at(j)));
      force_state(site, kind, state_at(i));
      const auto moved = site.sql().execute("UPDATE jobs SET state = '" + word(state_at(j)) + "'");
      CHECK(moved.has_value() == model::is_edge(kind, state_at(i), state_at(j)));
      if (!moved) {
        CHECK(is_refused(moved, "INVALID_TRANSITION"));
        CHECK(site.text("SELECT state FROM jobs") == word(state_at(i)));
      } else {
        ++legal;
      }
    }
  }
  CHECK(legal > 10);
}

TEST_CASE("schema: a job begins READY, REJECTED or CLAIMED and in no other state") {
  LedgerSite site;
  site.admit(site.job());
  std::string columns = site.text("SELECT group_concat(name) FROM pragma_table_info('jobs')");
  for (int i = 0; i < model::kStates; ++i) {
    const State state = state_at(i);
    std::string values = "," + columns + ",";
    const auto replace = [&](const std::string& column, const std::string& value) {
      values.replace(values.find("," + column + ",") + 1, column.size(), value);
    };
    replace("seq", "2");
    replace("job_id", "randomblob(16)");
    replace("state", "'" + word(state) + "'");
    values = values.substr(1, values.size() - 2);
    const auto inserted =
        site.sql().execute("BEGIN; INSERT INTO jobs (" + columns + ") SELECT " + values + " FROM jobs;");
    (void)site.sql().execute("ROLLBACK");
    INFO(word(state));
    CHECK(inserted.has_value() == (state == State::kReady || state == State::kRejected || state == State::kClaimed));
    if (!inserted) CHECK(is_refused(inserted, "INVALID_TRANSITION"));
  }
}

TEST_CASE("schema: what came from a job never changes, and jobs are never deleted") {
  LedgerSite site;
  site.admit(site.job());
  auto& sql = site.sql();
  for (const char* column :
       {"job_id", "mission_id", "object_id", "vault_path", "commit_id", "provenance_hash", "expected_state",
        "created_at", "idempotency_key", "job_sha256", "take", "follows", "seq"}) {
    INFO(column);
    CHECK(is_refused(sql.execute("UPDATE jobs SET " + std::string(column) + " = " + column), "never changes"));
  }
  CHECK(is_refused(sql.execute("DELETE FROM jobs"), "never deleted"));
  CHECK(is_refused(sql.execute("DELETE FROM job_bodies"), "never deleted"));
  CHECK(is_refused(sql.execute("UPDATE job_bodies SET bytes = x'00'"), "never changed"));
}

TEST_CASE("schema: both audits, late evidence, files and epochs are append only") {
  LedgerSite site;
  site.admit(site.bad_file());
  const Hand hand = site.executing();
  ledger::Batch late;
  late.finishes.push_back(
      site.finish_of({hand.seq, base::ClaimId::generate()}, model::Event::kLose, model::ResultWord::kUnknown));
  CHECK_FALSE(site.commit(late).finished.at(0));
  auto& sql = site.sql();
  for (const char* table : {"audit", "lease_audit", "late_evidence", "files", "epochs"}) {
    INFO(table);
    const std::string name = table;
    REQUIRE(site.number("SELECT count(*) FROM " + name) > 0);
    const std::string column = site.text("SELECT name FROM pragma_table_info('" + name + "') LIMIT 1");
    CHECK_FALSE(sql.execute("UPDATE " + name + " SET " + column + " = " + column));
    CHECK_FALSE(sql.execute("DELETE FROM " + name));
  }
  CHECK(is_refused(sql.execute("INSERT OR REPLACE INTO lease_audit SELECT * FROM lease_audit WHERE seq = 1"),
                   "append only"));
}

TEST_CASE("schema: effects and attempts are permanent, and what was applied stays applied") {
  LedgerSite site;
  site.applied();
  auto& sql = site.sql();
  CHECK(is_refused(sql.execute("DELETE FROM effects"), "never deleted"));
  CHECK(is_refused(sql.execute("UPDATE effects SET state = 'NONE'"), "stays applied"));
  CHECK(is_refused(sql.execute("UPDATE effects SET effect_key = randomblob(32)"), "never changes"));
  CHECK(is_refused(sql.execute("DELETE FROM attempts"), "never deleted"));
  CHECK(is_refused(sql.execute("UPDATE attempts SET attempt_id = randomblob(16)"), "only the outcome"));
}

TEST_CASE("schema: counters never go back") {
  LedgerSite site;
  site.executing();
  CHECK_FALSE(site.sql().execute("UPDATE ledger SET epoch = epoch - 1"));
  CHECK_FALSE(site.sql().execute("UPDATE ledger SET fence = fence - 1"));
  CHECK_FALSE(site.sql().execute("UPDATE ledger SET ledger_id = randomblob(16)"));
}

TEST_CASE("schema: a ledger whose guard was taken away is not opened") {
  LedgerSite site;
  site.close();
  value_of(site.sql().execute("DROP TRIGGER jobs_move"));
  auto opened = site.try_open();
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == base::ErrorCode::kCorrupt);
}
