#include "ledger/sqlite/schema.h"

#include "sql.h"  // made by embed_sql

namespace intray::ledger::sqlite {
namespace {

constexpr std::string_view kAdmissionName = "jobs_admission";
constexpr std::string_view kMoveName = "jobs_move";

std::string quoted(model::State state) { return "'" + std::string(model::to_word(state)) + "'"; }

// A job may be written as the rows lead out of CREATED, or where it is admitted and claimed in one commit (J01, J03),
// as the second of them leaves it.
bool may_begin_in(model::JobKind kind, model::State state) {
  if (model::is_edge(kind, model::State::kCreated, state)) return true;
  return state == model::State::kClaimed && model::is_edge(kind, model::State::kCreated, model::State::kReady) &&
         model::is_edge(kind, model::State::kReady, state);
}

std::string trigger_text(const Database& db, std::string_view name, base::Error& error) {
  auto text =
      db.read_text("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = '" + std::string(name) + "'");
  if (!text) error = text.error();
  return text.value_or("");
}

}  // namespace

std::string admission_trigger(model::JobKind kind) {
  std::string legal;
  for (int i = 0; i < model::kStates; ++i) {
    const auto state = static_cast<model::State>(i);
    if (!may_begin_in(kind, state)) continue;
    legal += (legal.empty() ? "" : " OR ") + ("NEW.state = " + quoted(state));
  }
  return "CREATE TRIGGER " + std::string(kAdmissionName) + " BEFORE INSERT ON jobs WHEN NOT (" + legal +
         ") BEGIN SELECT RAISE(FAIL, 'INVALID_TRANSITION'); END";
}

std::string move_trigger(model::JobKind kind) {
  std::string moves;
  for (int i = 0; i < model::kStates; ++i) {
    const auto from = static_cast<model::State>(i);
    std::string legal;
    for (int j = 0; j < model::kStates; ++j) {
      const auto to = static_cast<model::State>(j);
      if (model::is_edge(kind, from, to)) legal += (legal.empty() ? "" : " OR ") + ("NEW.state = " + quoted(to));
    }
    if (!legal.empty()) moves += " WHEN " + quoted(from) + " THEN " + legal;
  }
  return "CREATE TRIGGER " + std::string(kMoveName) + " BEFORE UPDATE OF state ON jobs WHEN NOT (CASE OLD.state" +
         moves + " ELSE 0 END) BEGIN SELECT RAISE(FAIL, 'INVALID_TRANSITION'); END";
}

base::Result<void> create_schema(const Database& db, model::JobKind kind, base::WallTime now) {
  Transaction transaction = INTRAY_TRY(Transaction::begin(db));
  // Another process may have made it while this one waited.
  if (INTRAY_TRY(db.read_integer("PRAGMA user_version")) != 0) return {};
  INTRAY_TRY(db.execute(std::string(sql::schema)));
  INTRAY_TRY(db.execute(admission_trigger(kind)));
  INTRAY_TRY(db.execute(move_trigger(kind)));
  {
    Statement insert(db, "insert_ledger", sql::insert_ledger);
    const auto id = base::LedgerId::generate();
    Use use(insert);
    INTRAY_TRY(use.bind(id).bind(model::to_word(kind)).bind(now).change());
  }
  INTRAY_TRY(db.execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
  INTRAY_TRY(db.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion)));
  return transaction.commit();
}

base::Result<model::JobKind> kind_of_ledger(const Database& db) {
  const auto kind = model::parse_kind(INTRAY_TRY(db.read_text(std::string(sql::ledger_kind))));
  if (!kind) return base::fail(base::ErrorCode::kCorrupt, db.path() + ": its executor kind is not known");
  return *kind;
}

base::Result<void> check_schema(const Database& db) {
  const std::int64_t application = INTRAY_TRY(db.read_integer("PRAGMA application_id"));
  const std::int64_t version = INTRAY_TRY(db.read_integer("PRAGMA user_version"));
  if (application != kApplicationId) return base::fail(base::ErrorCode::kCorrupt, db.path() + ": not an intray ledger");
  if (version > kSchemaVersion) {
    return base::fail(base::ErrorCode::kUnsupported, db.path() + ": ledger version " + std::to_string(version) +
                                                         " is newer than this program's " +
                                                         std::to_string(kSchemaVersion));
  }
  if (version < kSchemaVersion) {
    return base::fail(base::ErrorCode::kCorrupt,
                      db.path() + ": ledger version " + std::to_string(version) + " was never released");
  }
  const model::JobKind kind = INTRAY_TRY(kind_of_ledger(db));
  base::Error error;
  const bool guarded = trigger_text(db, kAdmissionName, error) == admission_trigger(kind) &&
                       trigger_text(db, kMoveName, error) == move_trigger(kind);
  if (!error.what.empty()) return std::unexpected(error);
  if (!guarded) {
    return base::fail(base::ErrorCode::kCorrupt,
                      db.path() + ": the triggers that guard the states of jobs are not this program's");
  }
  return {};
}

}  // namespace intray::ledger::sqlite
