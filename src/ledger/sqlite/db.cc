#include "ledger/sqlite/db.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/log.h"

namespace intray::ledger::sqlite {
namespace {

// Our own bug: a statement that does not match its schema, or a call in the wrong order.
[[noreturn]] void bug(std::string_view what, std::string_view detail) {
  base::log(base::LogLevel::kError, "ledger_bug", {{"what", what}, {"detail", detail}});
  std::abort();
}

void configure_library() {
  static std::once_flag once;
  // Nobody reads SQLite's memory statistics, and they cost a lock per allocation.
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

// EDQUOT and a full disk below the shared-memory file come as I/O errors; they are room, not damage.
bool is_no_space(int sys_errno) { return sys_errno == ENOSPC || sys_errno == EDQUOT; }

base::ErrorCode code_of(int code, int sys_errno) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return base::ErrorCode::kBusy;
    case SQLITE_FULL: return base::ErrorCode::kNoSpace;
    case SQLITE_IOERR: return is_no_space(sys_errno) ? base::ErrorCode::kNoSpace : base::ErrorCode::kIo;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH: return base::ErrorCode::kDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
    case SQLITE_SCHEMA: return base::ErrorCode::kCorrupt;
    default: return base::ErrorCode::kIo;
  }
}

}  // namespace

base::Result<Database> Database::open(const std::string& path, Mode mode, base::Micros busy_timeout) {
  configure_library();
  sqlite3* handle = nullptr;
  const int access = mode == Mode::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(path.c_str(), &handle, access | SQLITE_OPEN_NOMUTEX, nullptr);
  if (handle == nullptr) std::abort();  // out of memory
  Database db(handle, path);
  sqlite3_extended_result_codes(handle, 1);
  if (code != SQLITE_OK) return std::unexpected(db.error(code, "open"));
  sqlite3_busy_timeout(handle, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(busy_timeout).count()));
  // A file that somebody has tampered with may hold a schema of their own.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  int persistent = 1;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &persistent);
  return db;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Database::~Database() {
  if (handle_ != nullptr && sqlite3_close(handle_) != SQLITE_OK) bug("close", "statements are still in use");
}

base::Result<void> Database::execute(const std::string& statements) const {
  const int code = sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code, statements.substr(0, 60)));
  return {};
}

base::Result<std::string> Database::read_text(const std::string& query) const {
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v2(handle_, query.c_str(), -1, &prepared, nullptr);
  std::string value;
  if (code == SQLITE_OK) {
    code = sqlite3_step(prepared);
    if (code == SQLITE_ROW) {
      const unsigned char* text = sqlite3_column_text(prepared, 0);
      if (text != nullptr) value.assign(text, text + sqlite3_column_bytes(prepared, 0));
      code = SQLITE_OK;
    } else if (code == SQLITE_DONE) {
      code = SQLITE_OK;
    }
  }
  auto result = code == SQLITE_OK ? base::Result<std::string>(std::move(value)) : std::unexpected(error(code, query));
  sqlite3_finalize(prepared);
  return result;
}

base::Result<std::int64_t> Database::read_integer(const std::string& query) const {
  const std::string text = INTRAY_TRY(read_text(query));
  return std::strtoll(text.c_str(), nullptr, 10);
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

std::int64_t Database::rows_changed() const { return sqlite3_total_changes64(handle_); }

base::Error Database::error(int code, std::string_view doing) const {
  if ((code & 0xff) == SQLITE_NOMEM) std::abort();
  if ((code & 0xff) == SQLITE_MISUSE || (code & 0xff) == SQLITE_ERROR || (code & 0xff) == SQLITE_RANGE) {
    // SQLITE_ERROR is what a missing table or column gives: the schema is not ours.
    if ((code & 0xff) != SQLITE_ERROR) bug(doing, sqlite3_errmsg(handle_));
    return {base::ErrorCode::kCorrupt, 0, path_ + ": " + std::string(doing) + ": " + sqlite3_errmsg(handle_)};
  }
  const int sys_errno = sqlite3_system_errno(handle_);
  return {code_of(code, sys_errno), (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN ? sys_errno : 0,
          path_ + ": " + std::string(doing) + ": " + sqlite3_errmsg(handle_)};
}

Statement::~Statement() { sqlite3_finalize(prepared_); }

Use::Use(Statement& statement) : statement_(statement) {
  if (statement_.prepared_ == nullptr) {
    prepare_code_ =
        sqlite3_prepare_v3(statement_.db_.handle(), statement_.sql_.data(), static_cast<int>(statement_.sql_.size()),
                           SQLITE_PREPARE_PERSISTENT, &statement_.prepared_, nullptr);
  }
  prepared_ = statement_.prepared_;
  if (prepared_ != nullptr && sqlite3_stmt_busy(prepared_) != 0) bug(statement_.name_, "used twice at a time");
}

Use::~Use() {
  if (prepared_ != nullptr) sqlite3_reset(prepared_);
}

void Use::bound(int code) {
  if (prepared_ != nullptr && code != SQLITE_OK) bug(statement_.name_, "parameter could not be bound");
}

Use& Use::bind(std::int64_t value) {
  bound(sqlite3_bind_int64(prepared_, ++parameter_, value));
  return *this;
}

Use& Use::bind(std::nullopt_t) {
  bound(sqlite3_bind_null(prepared_, ++parameter_));
  return *this;
}

Use& Use::bind(std::string_view text) {
  // A null pointer would bind NULL where "" is meant.
  bound(sqlite3_bind_text(prepared_, ++parameter_, text.data() == nullptr ? "" : text.data(),
                          static_cast<int>(text.size()), nullptr));
  return *this;
}

Use& Use::bind_blob(std::string_view bytes) {
  bound(sqlite3_bind_blob(prepared_, ++parameter_, bytes.data() == nullptr ? "" : bytes.data(),
                          static_cast<int>(bytes.size()), nullptr));
  return *this;
}

base::Error Use::failure(int code) const { return statement_.db_.error(code, statement_.name_); }

base::Result<bool> Use::next() {
  if (prepared_ == nullptr) return std::unexpected(failure(prepare_code_));
  if (parameter_ != sqlite3_bind_parameter_count(prepared_)) bug(statement_.name_, "wrong number of parameters");
  column_ = 0;
  const int code = sqlite3_step(prepared_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(failure(code));
}

base::Result<std::int64_t> Use::change() {
  if (INTRAY_TRY(next())) bug(statement_.name_, "returns rows");
  return sqlite3_changes64(statement_.db_.handle());
}

base::Result<std::int64_t> Use::insert() {
  INTRAY_TRY(change());
  return sqlite3_last_insert_rowid(statement_.db_.handle());
}

base::Result<void> Use::swap() {
  const std::int64_t changed = INTRAY_TRY(change());
  if (changed > 1) bug(statement_.name_, "swapped more than one row");
  if (changed == 0) return base::fail(base::ErrorCode::kStale, std::string(statement_.name_) + ": the row has changed");
  return {};
}

bool Use::skip_null() {
  if (sqlite3_column_type(prepared_, column_) != SQLITE_NULL) return false;
  ++column_;
  return true;
}

std::int64_t Use::integer() {
  if (sqlite3_column_type(prepared_, column_) != SQLITE_INTEGER) corrupt_ = true;
  return sqlite3_column_int64(prepared_, column_++);
}

std::optional<std::int64_t> Use::integer_or_null() {
  if (skip_null()) return std::nullopt;
  return integer();
}

std::string_view Use::raw() {
  const void* bytes = sqlite3_column_blob(prepared_, column_);
  const int size = sqlite3_column_bytes(prepared_, column_++);
  return bytes == nullptr ? std::string_view{}
                          : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::string Use::text() { return std::string(raw()); }

std::optional<std::string> Use::text_or_null() {
  if (skip_null()) return std::nullopt;
  return text();
}

std::optional<base::WallTime> Use::time_or_null() {
  if (skip_null()) return std::nullopt;
  return time();
}

model::State Use::state() {
  const auto parsed = model::parse_state(raw());
  if (!parsed) corrupt_ = true;
  return parsed.value_or(model::State::kUnknown);
}

std::optional<model::State> Use::state_or_null() {
  if (skip_null()) return std::nullopt;
  return state();
}

std::optional<model::Reason> Use::reason_or_null() {
  if (skip_null()) return std::nullopt;
  const auto parsed = model::parse_reason(raw());
  if (!parsed) corrupt_ = true;
  return parsed;
}

std::optional<model::ResultWord> Use::result_or_null() {
  if (skip_null()) return std::nullopt;
  const auto parsed = model::parse_result(raw());
  if (!parsed) corrupt_ = true;
  return parsed;
}

base::Sha256 Use::hash() {
  const auto parsed = base::Sha256::from_bytes(raw());
  if (!parsed) corrupt_ = true;
  return parsed.value_or(base::Sha256{});
}

std::optional<base::Sha256> Use::hash_or_null() {
  if (skip_null()) return std::nullopt;
  return hash();
}

base::Result<void> Use::intact() const {
  if (!corrupt_) return {};
  return base::fail(base::ErrorCode::kCorrupt, statement_.db_.path() + ": " + std::string(statement_.name_) +
                                                   ": a column holds the wrong kind of value");
}

base::Result<Transaction> Transaction::begin(const Database& db) {
  INTRAY_TRY(db.execute("BEGIN IMMEDIATE"));
  return Transaction(db);
}

base::Result<Transaction> Transaction::begin_read(const Database& db) {
  INTRAY_TRY(db.execute("BEGIN"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // After some errors SQLite has rolled back already. A rollback that fails is followed by whatever failed before it.
  if (db_ != nullptr && db_->in_transaction()) (void)db_->execute("ROLLBACK");
}

base::Result<void> Transaction::commit() {
  auto committed = db_->execute("COMMIT");
  if (committed) {
    db_ = nullptr;
    return {};
  }
  base::Error error = std::move(committed).error();
  if (error.code != base::ErrorCode::kNoSpace && error.code != base::ErrorCode::kBusy)
    error.code = base::ErrorCode::kIo;
  return std::unexpected(std::move(error));
}

}  // namespace intray::ledger::sqlite
