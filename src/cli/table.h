// Purpose:    rows in aligned columns that fit the terminal, in bounded memory however many rows there are.
// Trust:      cells hold escaped text.
// Thread use: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"

namespace intray::cli {

struct Column {
  std::string title;
  enum class Fit { kWhole, kCutEnd, kCutStart } fit = Fit::kWhole;  // what gives way where the terminal is narrow
  bool right = false;
};

struct Cell {
  std::string text;
  Colour colour = Colour::kNone;
};

// Widths are those of the first kFitRows rows; a later, wider cell is cut where its column may be, and else sticks out.
class Table {
 public:
  Table(Console& console, std::vector<Column> columns) : console_(console), columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);
  // Prints what is held back. No rows: nothing, not even titles.
  void finish();

 private:
  void settle();
  void print(const std::vector<Cell>& row);
  static constexpr std::size_t kFitRows = 1'000;

  Console& console_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> held_;
  std::vector<int> widths_;  // empty until settled
};

// Widths of columns so that they and the two blanks between them take at most `columns`; the widest that may be cut
// gives way first, none below its floor. `columns` 0: no limit.
std::vector<int> fit_widths(std::vector<int> natural, const std::vector<Column>& shapes, int columns);

}  // namespace intray::cli
