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

std::string content_of(LedgerSite& site, const std::string& table) {
  const std::string columns =
      site.text("SELECT group_concat('quote(' || name || ')', '||') FROM pragma_table_info('" + table + "')");
  return site.text("SELECT group_concat(line, char(10)) FROM (SELECT " + columns + " AS line FROM " + table + ")");
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
}

// REPLACE deletes without asking the triggers on DELETE, so it needs guards of its own.
TEST_CASE("schema: no way of writing replaces a row that is to stay") {
  LedgerSite site;
  site.admit(site.bad_file());
  site.applied();
  const Hand hand = site.executing();
  ledger::Batch late;
  late.finishes.push_back(
      site.finish_of({hand.seq, base::ClaimId::generate()}, model::Event::kLose, model::ResultWord::kUnknown));
  CHECK_FALSE(site.commit(late).finished.at(0));
  auto& sql = site.sql();
  for (const char* recursive : {"OFF", "ON"}) {
    value_of(sql.execute(std::string("PRAGMA recursive_triggers = ") + recursive));
    for (const char* table : {"ledger", "epochs", "jobs", "job_bodies", "files", "attempts", "effects", "late_evidence",
                              "audit", "lease_audit"}) {
      const std::string name = table;
      INFO(name << ", recursive triggers " << recursive);
      const std::int64_t rows = site.number("SELECT count(*) FROM " + name);
      REQUIRE(rows > 0);
      const std::string before = content_of(site, name);
      for (const char* verb : {"INSERT OR REPLACE", "REPLACE"}) {
        CHECK_FALSE(sql.execute(std::string(verb) + " INTO " + name + " SELECT * FROM " + name));
        CHECK_FALSE(sql.execute(std::string(verb) + " INTO " + name + " SELECT * FROM " + name + " LIMIT 1"));
      }
      const std::string key = site.text("SELECT name FROM pragma_table_info('" + name + "') WHERE pk = 1");
      for (const char* verb : {"UPDATE OR REPLACE", "UPDATE OR IGNORE"}) {
        CHECK_FALSE(sql.execute(std::string(verb) + " " + name + " SET " + key + " = " + key));
      }
      CHECK(site.number("SELECT count(*) FROM " + name) == rows);
      CHECK(content_of(site, name) == before);
    }
  }
}

TEST_CASE("schema: an audit takes its next row and no other") {
  LedgerSite site;
  site.admit(site.job());
  auto& sql = site.sql();
  for (const char* table : {"audit", "lease_audit"}) {
    const std::string name = table;
    const std::string rest = site.text("SELECT group_concat(name) FROM pragma_table_info('" + name + "') WHERE pk = 0");
    for (const char* seq : {"max(seq) + 2", "0", "-1", "NULL"}) {
      INFO(name << " " << seq);
      CHECK(is_refused(
          sql.execute("INSERT INTO " + name + " (seq, " + rest + ") SELECT " + seq + ", " + rest + " FROM " + name),
          "append only"));
    }
  }
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

TEST_CASE("schema: a ledger whose guard was taken away, weakened or added to is not opened") {
  LedgerSite site;
  site.close();
  const char* const tampering =
      GENERATE("DROP TRIGGER jobs_move", "DROP TRIGGER audit_next", "DROP TRIGGER late_evidence_stay",
               "DROP TRIGGER audit_keep; CREATE TRIGGER audit_keep BEFORE UPDATE ON audit WHEN 0 "
               "BEGIN SELECT RAISE(ABORT, 'audit: append only'); END",
               "CREATE TRIGGER more AFTER INSERT ON jobs BEGIN SELECT 1; END");
  INFO(tampering);
  value_of(site.sql().execute(tampering));
  auto opened = site.try_open();
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == base::ErrorCode::kCorrupt);
}
