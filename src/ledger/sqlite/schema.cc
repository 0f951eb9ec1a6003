#include "ledger/sqlite/schema.h"

#include <array>

#include "sql.h"  // made by embed_sql

namespace intray::ledger::sqlite {
namespace {

constexpr std::string_view kAdmissionName = "jobs_admission";
constexpr std::string_view kMoveName = "jobs_move";
constexpr base::Micros kNoWait{0};

struct Upgrade {
  std::int64_t to_version;
  std::string_view added;
};
// What each version added. The same stands in schema.sql, for a ledger that begins today.
constexpr auto kUpgrades = std::to_array<Upgrade>({
    {2, sql::upgrade_to_2},
});
static_assert(kUpgrades.back().to_version == kSchemaVersion);

std::string quoted(model::State state) { return "'" + std::string(model::to_word(state)) + "'"; }

// A job may be written as the rows lead out of CREATED, or where it is admitted and claimed in one commit (J01, J03),
// as the second of them leaves it.
bool may_begin_in(model::JobKind kind, model::State state) {
  if (model::is_edge(kind, model::State::kCreated, state)) return true;
  return state == model::State::kClaimed && model::is_edge(kind, model::State::kCreated, model::State::kReady) &&
         model::is_edge(kind, model::State::kReady, state);
}

// Every trigger as the database keeps it, in one order.
constexpr const char* kTriggers =
    "SELECT coalesce(group_concat(name || char(10) || sql, char(10)), '') FROM "
    "(SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name)";

base::Result<void> make_tables(const Database& db, model::JobKind kind) {
  INTRAY_TRY(db.execute(std::string(sql::schema)));
  INTRAY_TRY(db.execute(admission_trigger(kind)));
  return db.execute(move_trigger(kind));
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
  INTRAY_TRY(make_tables(db, kind));
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

base::Result<void> check_is_ledger(const Database& db) {
  const std::int64_t application = INTRAY_TRY(db.read_integer("PRAGMA application_id"));
  const std::int64_t version = INTRAY_TRY(db.read_integer("PRAGMA user_version"));
  if (application != kApplicationId) return base::fail(base::ErrorCode::kCorrupt, db.path() + ": not an intray ledger");
  if (version > kSchemaVersion) {
    return base::fail(base::ErrorCode::kUnsupported, db.path() + ": ledger version " + std::to_string(version) +
                                                         " is newer than this program's " +
                                                         std::to_string(kSchemaVersion));
  }
  if (version < 1) return base::fail(base::ErrorCode::kCorrupt, db.path() + ": it has no ledger version");
  return {};
}

base::Result<void> check_schema(const Database& db) {
  INTRAY_TRY(check_is_ledger(db));
  const std::int64_t version = INTRAY_TRY(db.read_integer("PRAGMA user_version"));
  if (version == kSchemaVersion) return {};
  return base::fail(base::ErrorCode::kUnsupported, db.path() + ": ledger version " + std::to_string(version) +
                                                       "; the next start of its executor makes it " +
                                                       std::to_string(kSchemaVersion));
}

base::Result<void> upgrade_schema(const Database& db) {
  if (INTRAY_TRY(db.read_integer("PRAGMA user_version")) == kSchemaVersion) return {};
  Transaction transaction = INTRAY_TRY(Transaction::begin(db));
  // Another process may have done it while this one waited.
  const std::int64_t version = INTRAY_TRY(db.read_integer("PRAGMA user_version"));
  for (const Upgrade& upgrade : kUpgrades)
    if (upgrade.to_version > version) INTRAY_TRY(db.execute(std::string(upgrade.added)));
  INTRAY_TRY(db.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion)));
  return transaction.commit();
}

base::Result<void> check_guards(const Database& db) {
  const model::JobKind kind = INTRAY_TRY(kind_of_ledger(db));
  const Database ours = INTRAY_TRY(Database::open(":memory:", Database::Mode::kWrite, kNoWait));
  INTRAY_TRY(make_tables(ours, kind));
  if (INTRAY_TRY(db.read_text(kTriggers)) != INTRAY_TRY(ours.read_text(kTriggers))) {
    return base::fail(base::ErrorCode::kCorrupt,
                      db.path() + ": its triggers, which guard what may never change, are not this program's");
  }
  return {};
}

}  // namespace intray::ledger::sqlite
