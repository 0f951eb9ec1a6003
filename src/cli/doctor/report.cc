#include "cli/doctor/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/json_line.h"
#include "cli/text.h"

namespace intray::cli::doctor {
namespace {

constexpr int kPlainColumns = 100;  // of output that goes into a file
constexpr int kColumnsMin = 60;
constexpr int kIndent = 2;
constexpr int kStatusWidth = 8;  // "SKIPPED" and a blank

Colour colour_of(Status status) {
  switch (status) {
    case Status::kPass: return Colour::kGreen;
    case Status::kFail: return Colour::kRed;
    case Status::kWarn: return Colour::kYellow;
    case Status::kInfo:
    case Status::kSuite:
    case Status::kNotYet:
    case Status::kSkipped:
    case Status::kNotSeparated: break;
  }
  return Colour::kDim;
}

std::string padded(std::string text, int to) {
  text.append(static_cast<std::size_t>(std::max(0, to - width(text))), ' ');
  return text;
}

// A cell in as few columns as it takes; the legend below the table says what it means.
std::string mark_of(const Cell& cell) {
  switch (cell.status) {
    case Status::kPass: return cell.could.value_or(false) ? "yes" : "no";
    case Status::kFail: return "FAIL";
    case Status::kNotYet: return "-";
    case Status::kNotSeparated: return "=";
    case Status::kWarn:
    case Status::kInfo:
    case Status::kSuite:
    case Status::kSkipped: break;
  }
  return "?";
}

bool whole_row_is(const CellRow& row, Status status) {
  return std::ranges::all_of(row, [&](const Cell& cell) { return cell.status == status; });
}
// Nobody of that column was tried: the list of subjects says why, and a column of marks would say nothing.
bool is_column_shown(const Report& report, std::size_t subject) {
  return !std::ranges::all_of(report.cells, [&](const CellRow& row) {
    return row[subject].status == Status::kNotYet || row[subject].status == Status::kSkipped;
  });
}
// Every cell of the row has this status and reason, but for users that aren't there.
bool is_about_the_row(const Report& report, const CellRow& row, const Cell& cell) {
  for (std::size_t s = 0; s < kSubjects; ++s)
    if (is_column_shown(report, s) && (row[s].status != cell.status || row[s].why != cell.why)) return false;
  return true;
}
std::string target_of(std::string_view label) { return std::string(label.substr(0, label.rfind(": "))); }

void print_line(Console& console, const Line& line, int name_width, int columns) {
  const std::string word(to_word(line.status));
  const std::string head = std::string(kIndent, ' ') + console.paint(colour_of(line.status), word) +
                           std::string(static_cast<std::size_t>(std::max(1, kStatusWidth - width(word))), ' ') +
                           padded(line.name, name_width) + "  ";
  const std::string text = line.shown_by.empty() ? line.text : line.text + " [" + line.shown_by + "]";
  console.out << wrapped(head, kIndent + kStatusWidth + name_width + 2, text, columns);
}

void print_lines(Console& console, std::string_view title, const std::vector<Line>& lines, int columns) {
  if (lines.empty()) return;
  console.out << console.paint(Colour::kBold, title) << '\n';
  int name_width = 0;
  for (const Line& line : lines) name_width = std::max(name_width, width(line.name));
  for (const Line& line : lines) print_line(console, line, name_width, columns);
  console.out << '\n';
}

void print_grid(Console& console, const Report& report, int columns) {
  std::vector<std::size_t> shown;
  for (std::size_t s = 0; s < kSubjects; ++s)
    if (is_column_shown(report, s)) shown.push_back(s);
  if (shown.empty()) return;
  int label_width = 0;
  std::vector<int> widths(kSubjects, 0);
  int total = 0;
  for (std::size_t r = 0; r < report.cells.size(); ++r)
    if (!whole_row_is(report.cells[r], Status::kNotYet)) label_width = std::max(label_width, width(kMatrix[r].label));
  for (const std::size_t s : shown) {
    widths[s] = width(kSubjectTexts[s].head);
    for (const CellRow& row : report.cells) widths[s] = std::max(widths[s], width(mark_of(row[s])));
    total += widths[s];
  }
  const int gaps = static_cast<int>(shown.size());
  const int gap = kIndent + label_width + total + 2 * gaps <= columns ? 2 : 1;
  std::string titles = std::string(static_cast<std::size_t>(kIndent + label_width), ' ');
  for (const std::size_t s : shown)
    titles += std::string(static_cast<std::size_t>(gap), ' ') + padded(std::string(kSubjectTexts[s].head), widths[s]);
  while (titles.ends_with(' ')) titles.pop_back();
  console.out << console.paint(Colour::kDim, titles) << '\n';
  for (std::size_t r = 0; r < report.cells.size(); ++r) {
    if (whole_row_is(report.cells[r], Status::kNotYet)) continue;
    std::string line = std::string(kIndent, ' ') + padded(std::string(kMatrix[r].label), label_width);
    int blanks = 0;
    for (const std::size_t s : shown) {
      const Cell& cell = report.cells[r][s];
      const std::string mark = mark_of(cell);
      line += std::string(static_cast<std::size_t>(blanks + gap), ' ') + console.paint(colour_of(cell.status), mark);
      blanks = widths[s] - width(mark);
    }
    console.out << line << '\n';
  }
}

// Cells of one reason are told together: "requester, admin: why".
void print_reasons(Console& console, const Report& report, Status status, int columns) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (std::size_t r = 0; r < report.cells.size(); ++r)
    for (std::size_t s = 0; s < kSubjects; ++s) {
      const Cell& cell = report.cells[r][s];
      if (cell.status != status) continue;
      // A failure is told cell by cell; what was not tried, by target or by subject, whichever the reason is about.
      const std::string_view label = kMatrix[r].label;
      const std::string_view subject = kSubjectTexts[s].word;
      if (status != Status::kFail && !is_column_shown(report, s)) continue;
      const std::string who = status == Status::kFail                           ? fmt::format("{}, {}", subject, label)
                              : is_about_the_row(report, report.cells[r], cell) ? target_of(label)
                                                                                : std::string(subject);
      auto at = std::ranges::find_if(by_reason, [&](const auto& pair) { return pair.first == cell.why; });
      if (at == by_reason.end()) at = by_reason.insert(at, {cell.why, {}});
      if (std::ranges::find(at->second, who) == at->second.end()) at->second.push_back(who);
    }
  for (const auto& [why, who] : by_reason) {
    const std::string word(to_word(status));
    const std::string head = std::string(kIndent, ' ') + console.paint(colour_of(status), word) +
                             std::string(static_cast<std::size_t>(std::max(1, kStatusWidth - width(word))), ' ');
    console.out << wrapped(head, kIndent + kStatusWidth, fmt::format("{}: {}", fmt::join(who, "; "), why), columns);
  }
}

void print_matrix(Console& console, const Report& report, int columns) {
  console.out << console.paint(Colour::kBold, "Who can do what") << '\n';
  for (const SubjectNote& note : report.subjects) {
    const SubjectText& text = kSubjectTexts[static_cast<std::size_t>(note.subject)];
    const std::string head = std::string(kIndent, ' ') + padded(std::string(text.head), 8);
    console.out << wrapped(head, kIndent + 8, fmt::format("{}: {}", text.word, note.text), columns);
  }
  console.out << '\n';
  print_grid(console, report, columns);
  console.out << '\n'
              << wrapped("  ", kIndent,
                         "no, yes: tried, and refused or allowed as it must be (PASS). FAIL: the other way round. ?: "
                         "not tried (SKIPPED). -: not installed (NOT YET). =: one user does everything, nothing is "
                         "separated.",
                         columns);
  for (const Status status : {Status::kFail, Status::kSkipped, Status::kNotYet, Status::kNotSeparated})
    print_reasons(console, report, status, columns);
  console.out << '\n' << console.paint(Colour::kBold, "How it was tried") << "\n";
  console.out << wrapped("  ", kIndent,
                         "each in a child process with that user's ids and groups and no capability (setgroups, "
                         "setresgid, setresuid, no_new_privs):",
                         columns);
  for (const ActText& text : kActTexts)
    console.out << wrapped(std::string(kIndent, ' ') + padded(std::string(text.word), 12), kIndent + 12, text.how,
                           columns);
  console.out << '\n';
}

nlohmann::json object_of(std::string_view type, const Line& line) {
  nlohmann::json out = {{"type", type}, {"name", line.name}, {"result", to_word(line.status)}, {"text", line.text}};
  if (!line.shown_by.empty()) out["shown_by"] = line.shown_by;
  return out;
}

void print_objects(Console& console, const Report& report, const Counts& counts) {
  for (const Line& line : report.checks) print_json(console, object_of("check", line));
  for (std::size_t r = 0; r < report.cells.size(); ++r)
    for (std::size_t s = 0; s < kSubjects; ++s) {
      const Cell& cell = report.cells[r][s];
      const Expect e = kMatrix[r].expect[s];
      print_json(console, {{"type", "cell"},
                           {"subject", kSubjectTexts[s].word},
                           {"label", kMatrix[r].label},
                           {"act", kActTexts[static_cast<std::size_t>(kMatrix[r].act)].word},
                           {"expected", e == Expect::kNo    ? "no"
                                        : e == Expect::kYes ? "yes"
                                                            : "either"},
                           {"could", cell.could ? nlohmann::json(*cell.could) : nlohmann::json(nullptr)},
                           {"result", to_word(cell.status)},
                           {"why", cell.why.empty() ? nlohmann::json(nullptr) : nlohmann::json(cell.why)},
                           {"how", kActTexts[static_cast<std::size_t>(kMatrix[r].act)].how}});
    }
  for (const Line& line : report.self_tests) print_json(console, object_of("self_test", line));
  for (const Line& line : report.proofs) print_json(console, object_of("proof", line));
  print_json(console, {{"type", "summary"},
                       {"passed", counts.passed},
                       {"failed", counts.failed},
                       {"warned", counts.warned},
                       {"not_yet", counts.not_yet},
                       {"skipped", counts.skipped},
                       {"not_separated", counts.not_separated},
                       {"complete", report.complete}});
}

}  // namespace

std::string_view to_word(Status status) {
  switch (status) {
    case Status::kPass: return "PASS";
    case Status::kFail: return "FAIL";
    case Status::kWarn: return "WARN";
    case Status::kInfo: return "INFO";
    case Status::kSuite: return "SUITE";
    case Status::kNotYet: return "NOT YET";
    case Status::kSkipped: return "SKIPPED";
    case Status::kNotSeparated: break;
  }
  return "ONE USER";
}

Counts count(const Report& report) {
  Counts out;
  const auto add = [&](Status status) {
    switch (status) {
      case Status::kPass: ++out.passed; break;
      case Status::kFail: ++out.failed; break;
      case Status::kWarn: ++out.warned; break;
      case Status::kNotYet: ++out.not_yet; break;
      case Status::kSkipped: ++out.skipped; break;
      case Status::kNotSeparated: ++out.not_separated; break;
      case Status::kInfo:
      case Status::kSuite: break;
    }
  };
  for (const auto* const lines : {&report.checks, &report.self_tests, &report.proofs})
    for (const Line& line : *lines) add(line.status);
  for (const CellRow& row : report.cells)
    for (const Cell& cell : row) add(cell.status);
  return out;
}

std::string wrapped(std::string_view head, int head_width, std::string_view text, int columns) {
  std::string out(head);
  int at = head_width;
  bool first = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const int wide = width(word);
    if (!first && at + 1 + wide > columns) {
      out += '\n' + std::string(static_cast<std::size_t>(head_width), ' ');
      at = head_width;
      first = true;
    }
    if (!first) out += ' ';
    out += word;
    at += wide + (first ? 0 : 1);
    first = false;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + '\n';
}

void print(Console& console, const Report& report) {
  const Counts counts = count(report);
  if (console.json) return print_objects(console, report, counts);
  const int columns = std::max(console.columns > 0 ? std::min(console.columns, 120) : kPlainColumns, kColumnsMin);
  print_lines(console, "Machine and site", report.checks, columns);
  if (!report.cells.empty()) print_matrix(console, report, columns);
  print_lines(console, "Executors' own tests", report.self_tests, columns);
  print_lines(console, "Proofs", report.proofs, columns);
  console.out << wrapped(
      "", 0,
      fmt::format("{} PASS, {} FAIL, {} WARN, {} NOT YET, {} SKIPPED{}", counts.passed, counts.failed, counts.warned,
                  counts.not_yet, counts.skipped,
                  counts.not_separated > 0 ? fmt::format(", {} not separated: user mode", counts.not_separated) : ""),
      columns);
}

}  // namespace intray::cli::doctor
