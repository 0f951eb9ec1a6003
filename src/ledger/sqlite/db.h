// Purpose:    SQLite as four small types: a connection, a statement, one use of a statement, a transaction.
// Process:    the ledger's writer and its readers; the only door to sqlite3.h in the tree.
// Trust:      what the file holds is checked where it is read: a value of the wrong shape is kCorrupt, never a guess.
// Thread use: one thread per connection (SQLITE_OPEN_NOMUTEX).
// Durability: Transaction::commit() returns after the WAL frame is synced (synchronous=FULL).
//
// Errors: kBusy (locked past the timeout) and kNoSpace leave nothing changed once the transaction is rolled back. kIo:
// what is on disk is not known; the connection must not be used again. kCorrupt: the file breaks its own rules.
// kDenied: permissions. Out of memory and misuse of SQLite's interface abort.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "model/reason.h"
#include "model/state.h"

struct sqlite3;
struct sqlite3_stmt;

namespace intray::ledger::sqlite {

class Database {
 public:
  enum class Mode { kWrite, kRead };
  // The file must exist. Keeps the WAL persistent, so that it is never unlinked at close.
  static base::Result<Database> open(const std::string& path, Mode mode, base::Micros busy_timeout);

  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  base::Result<void> execute(const std::string& statements) const;
  base::Result<std::int64_t> read_integer(const std::string& query) const;
  base::Result<std::string> read_text(const std::string& query) const;

  bool in_transaction() const;
  std::int64_t rows_changed() const;  // since open
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }
  // The error behind the last failed call on this connection.
  base::Error error(int code, std::string_view doing) const;

 private:
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_ = nullptr;
  std::string path_;
};

// Prepared at its first use, once. `sql` lives as long as the program (it comes from sql/).
class Statement {
 public:
  Statement(const Database& db, std::string_view name, std::string_view sql) : db_(db), name_(name), sql_(sql) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

 private:
  friend class Use;
  const Database& db_;
  std::string_view name_;
  std::string_view sql_;
  sqlite3_stmt* prepared_ = nullptr;
};

// One use of a statement: bind every parameter in order, then change() or next(); reset when it goes out of scope.
// What is bound must outlive the use; temporaries that own memory are refused by the compiler.
class Use {
 public:
  explicit Use(Statement& statement);
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use();

  Use& bind(std::int64_t value);
  Use& bind(int value) { return bind(static_cast<std::int64_t>(value)); }
  Use& bind(std::uint32_t value) { return bind(static_cast<std::int64_t>(value)); }
  Use& bind(bool value) { return bind(static_cast<std::int64_t>(value)); }
  Use& bind(std::nullopt_t);
  Use& bind(std::string_view text);
  Use& bind(const std::string& text) { return bind(std::string_view(text)); }
  Use& bind(std::string&& text) = delete;
  Use& bind(const char* text) { return bind(std::string_view(text)); }
  Use& bind_blob(std::string_view bytes);
  Use& bind(const base::Sha256& hash) { return bind_blob(hash.view()); }
  template <class Tag>
  Use& bind(const base::Uuid<Tag>& id) {
    return bind_blob(id.view());
  }
  template <class Tag>
  Use& bind(base::Number<Tag> number) {
    return bind(number.value);
  }
  Use& bind(base::WallTime time) { return bind(base::to_us(time)); }
  Use& bind(model::State state) { return bind(model::to_word(state)); }
  Use& bind(model::Reason reason) { return bind(model::to_word(reason)); }
  Use& bind(model::ResultWord result) { return bind(model::to_word(result)); }
  template <class T>
  Use& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  // Runs a statement without rows; how many rows it changed.
  base::Result<std::int64_t> change();
  // Runs an INSERT of one row and yields its rowid. (RETURNING would fill a temporary table for it.)
  base::Result<std::int64_t> insert();
  // Runs a statement that must change exactly one row: a compare-and-swap. kStale where it changed none.
  base::Result<void> swap();
  // Steps to the next row; false at the end.
  base::Result<bool> next();

  // Columns of the present row, in order; each call takes the next one. A value of the wrong shape yields a default and
  // makes intact() fail.
  std::int64_t integer();
  std::optional<std::int64_t> integer_or_null();
  bool flag() { return integer() != 0; }
  std::string text();  // NULL: ""
  std::optional<std::string> text_or_null();
  std::string_view raw();  // the bytes of a blob or text, until the next step
  base::WallTime time() { return base::from_us(integer()); }
  std::optional<base::WallTime> time_or_null();
  model::State state();
  std::optional<model::State> state_or_null();
  std::optional<model::Reason> reason_or_null();
  std::optional<model::ResultWord> result_or_null();
  base::Sha256 hash();
  std::optional<base::Sha256> hash_or_null();
  template <class Id>
  Id id() {
    const auto parsed = Id::from_bytes(raw());
    if (!parsed) corrupt_ = true;
    return parsed.value_or(Id{});
  }
  template <class Id>
  std::optional<Id> id_or_null() {
    if (skip_null()) return std::nullopt;
    return id<Id>();
  }
  template <class N>
  N number() {
    return N{integer()};
  }
  template <class N>
  std::optional<N> number_or_null() {
    if (skip_null()) return std::nullopt;
    return N{integer()};
  }
  // kCorrupt where a column read so far had the wrong shape.
  base::Result<void> intact() const;

 private:
  base::Error failure(int code) const;
  void bound(int code);
  bool skip_null();

  Statement& statement_;
  sqlite3_stmt* prepared_ = nullptr;
  int prepare_code_ = 0;
  int parameter_ = 0;
  int column_ = 0;
  bool corrupt_ = false;
};

// BEGIN IMMEDIATE … COMMIT; rolled back where it goes out of scope uncommitted.
class Transaction {
 public:
  static base::Result<Transaction> begin(const Database& db);
  // A read transaction: one snapshot.
  static base::Result<Transaction> begin_read(const Database& db);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  // kNoSpace, kBusy: rolled back, nothing changed. Everything else that fails is kIo.
  base::Result<void> commit();

 private:
  explicit Transaction(const Database& db) : db_(&db) {}
  const Database* db_;
};

}  // namespace intray::ledger::sqlite
