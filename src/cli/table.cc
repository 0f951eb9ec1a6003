#include "cli/table.h"

#include <algorithm>
#include <ostream>

#include "cli/text.h"

namespace intray::cli {
namespace {

constexpr int kGap = 2;
constexpr int kCutFloor = 8;  // columns below which a cut text says nothing

std::string fitted(const std::string& text, Column::Fit fit, int columns) {
  switch (fit) {
    case Column::Fit::kCutEnd: return cut_end(text, columns);
    case Column::Fit::kCutStart: return cut_start(text, columns);
    case Column::Fit::kWhole: break;
  }
  return text;
}

}  // namespace

std::vector<int> fit_widths(std::vector<int> natural, const std::vector<Column>& shapes, int columns) {
  if (columns <= 0 || natural.empty()) return natural;
  int total = kGap * (static_cast<int>(natural.size()) - 1);
  for (const int w : natural) total += w;
  while (total > columns) {
    int widest = -1;
    for (std::size_t i = 0; i < natural.size(); ++i) {
      if (shapes[i].fit == Column::Fit::kWhole || natural[i] <= kCutFloor) continue;
      if (widest < 0 || natural[i] > natural[static_cast<std::size_t>(widest)]) widest = static_cast<int>(i);
    }
    if (widest < 0) break;
    --natural[static_cast<std::size_t>(widest)];
    --total;
  }
  return natural;
}

void Table::add(std::vector<Cell> row) {
  row.resize(columns_.size());
  if (!widths_.empty()) return print(row);
  held_.push_back(std::move(row));
  if (held_.size() == kFitRows) settle();
}

void Table::finish() {
  if (widths_.empty() && !held_.empty()) settle();
  console_.out.flush();
}

void Table::settle() {
  std::vector<Cell> titles;
  titles.reserve(columns_.size());
  std::vector<int> natural;
  natural.reserve(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int widest = width(columns_[i].title);
    for (const auto& row : held_) widest = std::max(widest, width(row[i].text));
    natural.push_back(widest);
    titles.push_back({columns_[i].title, Colour::kDim});
  }
  widths_ = fit_widths(std::move(natural), columns_, console_.columns);
  print(titles);
  for (const auto& row : held_) print(row);
  held_.clear();
}

void Table::print(const std::vector<Cell>& row) {
  std::string line;
  int blanks = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string text = fitted(row[i].text, columns_[i].fit, widths_[i]);
    const int padding = std::max(0, widths_[i] - width(text));
    // Blanks are held back until something follows, so that no line ends in them.
    if (columns_[i].right) blanks += padding;
    if (!text.empty()) {
      line.append(static_cast<std::size_t>(blanks), ' ');
      line += console_.paint(row[i].colour, text);
      blanks = 0;
    }
    if (!columns_[i].right) blanks += padding;
    blanks += kGap;
  }
  console_.out << line << '\n';
}

}  // namespace intray::cli
