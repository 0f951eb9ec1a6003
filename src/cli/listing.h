// Purpose:    the rows of `intray ls` in each of its three forms (table, ids, JSON), and the line that says how
//             complete it is.
// Trust:      file names are requesters': escaped in tables, exact in JSON.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/console.h"
#include "cli/new_files.h"
#include "cli/table.h"
#include "ledger/reader.h"

namespace intray::cli {

class Listing {
 public:
  // kind_column: jobs of more than one kind are shown.
  Listing(Console& console, bool details, bool ids_only, bool kind_column);

  void add(const ledger::JobSummary& summary);
  void add(const ledger::FileSummary& file, model::JobKind kind);
  void add(const NewFile& file, model::JobKind kind);
  // Rows left out on purpose: "4,000 more; intray ls READY lists them".
  void note_more(std::int64_t number, const std::string& word, model::JobKind kind);
  void finish();
  std::int64_t listed() const { return listed_; }

 private:
  void row(model::JobKind kind, std::vector<Cell> cells);
  Console& console_;
  bool details_;
  bool ids_only_;
  bool kind_column_;
  base::WallTime now_;
  Table table_;
  std::int64_t listed_ = 0;
  std::string after_;  // notes, printed below the table
};

// What one kind holds, and how much of it a listing saw.
struct Totals {
  model::JobKind kind = model::JobKind::kSave;
  ledger::Reader::Counts counts;
  bool ledger_read = false;
  std::int64_t fresh = 0;
  std::int64_t in_tmp = 0;
  std::int64_t listed = 0;
  std::int64_t vanished = 0;
  std::int64_t unreadable = 0;  // entries and whole directories
};
// "save: 1 unknown, 2 executing, 4 ready, 3 new; ended: 120 succeeded, 3 failed, 2 rejected".
std::string sentence(const Totals& totals);
void print_totals(Console& console, const Totals& totals);

}  // namespace intray::cli
