// Purpose: a ledger in a directory of its own, with a holder, jobs to admit, and raw SQL beside it.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "ledger/ledger.h"
#include "ledger/reader.h"
#include "ledger/sqlite/db.h"
#include "model/job.h"

namespace intray::test {

template <class Result>
auto value_of(Result&& result) {
  if (!result) FAIL(base::to_word(result.error().code) << ": " << result.error().what);
  if constexpr (!std::is_void_v<typename std::decay_t<Result>::value_type>) return *std::forward<Result>(result);
}

class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline const ledger::Identity kSlot0{"site", "save", "save/0"};
inline const ledger::Identity kSlot1{"site", "save", "save/1"};

// What a test says of a job; the rest is made up and unique.
struct JobSpec {
  std::optional<base::JobId> job_id{};
  std::optional<base::IdempotencyKey> key{};
  std::string object_id{};  // "": one of its own
  std::string path{};
  std::string commit = std::string(40, 'a');
  model::JobKind kind = model::JobKind::kSave;
  bool claim_now = true;
};

// A claimed job and what its holder says of it.
struct Hand {
  base::JobSeq seq;
  base::ClaimId claim;
};

class LedgerSite {
 public:
  explicit LedgerSite(model::JobKind kind = model::JobKind::kSave);

  void open();
  base::Result<std::unique_ptr<ledger::Ledger>> try_open();
  void close() { ledger_.reset(); }
  ledger::Ledger& operator*() { return *ledger_; }
  ledger::Ledger* operator->() { return ledger_.get(); }
  std::unique_ptr<ledger::Reader> reader() { return value_of(ledger::open_sqlite_reader(options.path, clock)); }
  // A second process: a ledger object of its own on the same file.
  std::unique_ptr<ledger::Ledger> second();

  // Takes the slot's lease: the first time by acquire, later by takeover.
  ledger::HeldLease hold(const ledger::Identity& identity = kSlot0);
  ledger::HeldLease hold(ledger::Ledger& by, const ledger::Identity& identity = kSlot0);
  // The holder dies without a word: its lease runs out, somebody else takes it over.
  void die_and_take_over();

  ledger::Admit job(const JobSpec& spec = {});
  ledger::Admit bad_file(model::Reason reason = model::Reason::kMalformedJson);
  ledger::Start start_of(const Hand& hand, const std::string& content = "content");
  ledger::Finish finish_of(const Hand& hand, model::Event event, std::optional<model::ResultWord> result = {});

  ledger::BatchResult commit(const ledger::Batch& batch) { return value_of(ledger_->commit(held, batch)); }
  ledger::Admitted admit(const ledger::Admit& file);
  Hand claimed(const JobSpec& spec = {});
  Hand executing(const JobSpec& spec = {});
  ledger::Ended ended_by(const ledger::Finish& finish);
  // Admits, starts and ends a job as APPLIED.
  ledger::Ended applied(const JobSpec& spec = {});
  model::State state_of(base::JobSeq seq);
  std::string text(const std::string& query) { return value_of(sql().read_text(query)); }
  std::int64_t number(const std::string& query) { return value_of(sql().read_integer(query)); }
  // A connection of its own, as an intruder or an admin with the sqlite3 shell has one.
  ledger::sqlite::Database& sql();
  // Events of the audit with the table's rows, oldest first: "REQUESTED:J01 CLAIMED:J03".
  std::string trail(base::JobSeq seq);
  std::string trail() { return trail_where("1 = 1"); }

  TempDir dir;
  base::FakeClock clock;
  ledger::OpenOptions options;
  ledger::HeldLease held;
  ledger::Identity identity = kSlot0;

 private:
  std::string trail_where(const std::string& condition);

  std::unique_ptr<ledger::Ledger> ledger_;
  std::optional<ledger::sqlite::Database> sql_;
  std::int64_t takes_ = 0;
};

inline constexpr base::Micros kTtl = std::chrono::seconds{15};

}  // namespace intray::test
