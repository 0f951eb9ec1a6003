// Opening and closing: file, version, damage, the list of writers, the reserve.
#include <utility>

#include "base/log.h"
#include "ledger/sqlite/schema.h"
#include "ledger/sqlite/store.h"
#include "limits.h"
#include "sys/dir.h"
#include "sys/process.h"
#include "sys/reserve.h"

namespace intray::ledger {
namespace sqlite {
namespace {

struct Place {
  std::string directory;
  std::string name;
};

Place place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// An empty file of exactly this mode, whatever the umask; SQLite gives its side files the same.
base::Result<void> make_file(const OpenOptions& options) {
  const Place place = place_of(options.path);
  const sys::Dir directory = INTRAY_TRY(sys::Dir::open(place.directory));
  const auto made = directory.create(place.name, options.file_mode);
  if (!made) {
    if (made.error().code == base::ErrorCode::kExists) return {};
    return std::unexpected(made.error());
  }
  return directory.sync();
}

base::Result<void> configure(const Database& db) {
  if (INTRAY_TRY(db.read_text("PRAGMA journal_mode = WAL")) != "wal") {
    return base::fail(base::ErrorCode::kUnsupported, db.path() + ": this filesystem can't hold a write-ahead log");
  }
  INTRAY_TRY(db.execute("PRAGMA synchronous = FULL"));
  INTRAY_TRY(db.execute("PRAGMA foreign_keys = ON"));
  INTRAY_TRY(db.execute("PRAGMA temp_store = MEMORY"));
  INTRAY_TRY(db.read_text("PRAGMA mmap_size = 0"));
  INTRAY_TRY(db.execute("PRAGMA cache_size = -" + std::to_string(limits::kLedgerCache_KiB)));
  INTRAY_TRY(db.read_text("PRAGMA wal_autocheckpoint = " + std::to_string(limits::kLedgerCheckpoint_pages)));
  INTRAY_TRY(db.read_text("PRAGMA journal_size_limit = " + std::to_string(limits::kLedgerWalKept_bytes)));
  return {};
}

// Those who opened it for writing and are gone without having closed it.
base::Result<std::vector<std::int64_t>> dead_writers(Statements& sql, const std::string& boot_id) {
  std::vector<std::int64_t> dead;
  Use use(sql.writers);
  while (INTRAY_TRY(use.next())) {
    const std::int64_t id = use.integer();
    const bool this_boot = use.text() == boot_id;
    const auto started = sys::start_time_ticks(static_cast<int>(use.integer()));
    const bool lives = this_boot && started && *started == static_cast<std::uint64_t>(use.integer());
    if (!lives) dead.push_back(id);
  }
  return dead;
}

// After an unclean stop every page is looked at before anything is believed.
base::Result<void> check_damage(const Database& db) {
  base::log(base::LogLevel::kInfo, "ledger_check", {{"path", db.path()}, {"why", "the last stop was not clean"}});
  const std::string verdict = INTRAY_TRY(db.read_text("PRAGMA quick_check(1)"));
  if (verdict == "ok") return {};
  return base::fail(base::ErrorCode::kCorrupt, db.path() + ": " + verdict + "; restore a backup, then reconcile");
}

// Signs this process in, in place of the dead. Returns its row.
base::Result<std::int64_t> sign_in(const Database& db, Statements& sql, const OpenOptions& options,
                                   base::WallTime now) {
  const auto dead = INTRAY_TRY(dead_writers(sql, options.boot_id));
  if (!dead.empty()) INTRAY_TRY(check_damage(db));
  Transaction transaction = INTRAY_TRY(Transaction::begin(db));
  for (const std::int64_t id : dead) {
    Use use(sql.delete_writer);
    INTRAY_TRY(use.bind(id).change());
  }
  std::int64_t row = 0;
  {
    const int pid = sys::process_id();
    const auto ticks = static_cast<std::int64_t>(sys::start_time_ticks(pid).value_or(0));
    Use use(sql.insert_writer);
    if (INTRAY_TRY(use.bind(options.boot_id).bind(pid).bind(ticks).bind(now).next())) row = use.integer();
  }
  INTRAY_TRY(transaction.commit());
  return row;
}

std::string reserve_name(const Place& place) {
  const std::size_t dot = place.name.rfind('.');
  return (dot == std::string::npos || dot == 0 ? place.name : place.name.substr(0, dot)) + ".reserve";
}

// Room for outcomes. That there is none right now is said, and no reason to stay down.
sys::Fd keep_reserve(const OpenOptions& options) {
  if (options.reserve_bytes <= 0) return {};
  const Place place = place_of(options.path);
  auto directory = sys::Dir::open(place.directory);
  auto kept = directory ? sys::preallocate(*directory, reserve_name(place), options.reserve_bytes, options.file_mode)
                        : base::Result<sys::Fd>(std::unexpected(directory.error()));
  if (kept) return std::move(*kept);
  base::log(base::LogLevel::kWarn, "ledger_reserve_missing", {{"path", options.path}, {"why", kept.error().what}});
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Ledger>> Store::open(const OpenOptions& options, const base::Clock& clock) {
  INTRAY_TRY(make_file(options));
  Database opened = INTRAY_TRY(Database::open(options.path, Database::Mode::kWrite, options.busy_timeout));
  // Before the first write: whose file is it, and which version.
  const std::int64_t version = INTRAY_TRY(opened.read_integer("PRAGMA user_version"));
  const bool fresh = version == 0 && INTRAY_TRY(opened.read_integer("SELECT count(*) FROM sqlite_schema")) == 0;
  if (!fresh) {
    INTRAY_TRY(check_is_ledger(opened));
    INTRAY_TRY(check_guards(opened));
  }
  INTRAY_TRY(configure(opened));
  if (fresh) {
    INTRAY_TRY(create_schema(opened, options.kind, clock.wall()));
    INTRAY_TRY(check_is_ledger(opened));
    INTRAY_TRY(check_guards(opened));  // another process may have made it
  }
  if (INTRAY_TRY(kind_of_ledger(opened)) != options.kind) {
    return base::fail(base::ErrorCode::kInvalid, options.path + ": the ledger of the other executor kind");
  }
  INTRAY_TRY(upgrade_schema(opened));
  INTRAY_TRY(check_schema(opened));

  std::unique_ptr<Store> store(new Store(options, clock, std::move(opened)));
  store->sql_ = std::make_unique<Statements>(store->db_);
  {
    Use use(store->sql_->ledger_id);
    if (!INTRAY_TRY(use.next())) return base::fail(base::ErrorCode::kCorrupt, "ledger: its one row is missing");
    store->id_ = use.id<base::LedgerId>();
    store->ledger_epoch_ = use.integer();
    INTRAY_TRY(use.intact());
  }
  store->reserve_ = keep_reserve(options);
  store->writer_ = INTRAY_TRY(sign_in(store->db_, *store->sql_, options, clock.wall()));
  return store;
}

Store::~Store() { sign_out(); }

bool Store::sign_out() {
  if (!writer_ || broken_) return false;
  Use use(sql_->delete_writer);
  const auto signed_out = use.bind(*std::exchange(writer_, std::nullopt)).change();
  if (!signed_out) {
    base::log(base::LogLevel::kWarn, "ledger_close", {{"why", signed_out.error().what}});
    return false;
  }
  // While nobody writes, ledger.db should hold everything by itself: what lies in the log alone is forgotten without a
  // word where the log is damaged or left out of a copy.
  if (const auto moved = db_.read_integer("PRAGMA wal_checkpoint(PASSIVE)"); !moved)
    base::log(base::LogLevel::kWarn, "ledger_log_kept", {{"why", moved.error().what}});
  return true;
}

// It stays open: a confined process that closes what it had open before is killed.
bool Store::give_up_reserve() { return sys::give_up(reserve_); }

}  // namespace sqlite

base::Result<std::unique_ptr<Ledger>> open_sqlite(const OpenOptions& options, const base::Clock& clock) {
  return sqlite::Store::open(options, clock);
}

}  // namespace intray::ledger
