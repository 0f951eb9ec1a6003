// Purpose:    what `intray doctor` found: cells of the matrix, checks of site and machine, proofs by name; and
// printing. Trust:      callers escape what comes from outside. Thread use: values; one thread prints.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "cli/doctor/matrix.h"

namespace intray::cli::doctor {

enum class Status : std::uint8_t {
  kPass,
  kFail,
  kWarn,          // no hole, and not as it should be
  kInfo,          // a fact, no claim
  kSuite,         // not tried here: a test of the suite shows it
  kNotYet,        // that part isn't installed
  kSkipped,       // could not be tried here; no claim is made
  kNotSeparated,  // one user does everything: there is nothing to prove
};
std::string_view to_word(Status status);

struct Cell {
  Status status = Status::kSkipped;
  std::optional<bool> could;  // what the kernel answered
  std::string why;            // of everything but a plain PASS
};
using CellRow = std::array<Cell, kSubjects>;  // one row of kMatrix

struct Line {
  Status status = Status::kInfo;
  std::string name;
  std::string text;
  std::string shown_by;  // of a proof: the command or test
};

// Who was tried in a column: "uid 998 (intray-rq), groups intray-rq".
struct SubjectNote {
  Subject subject;
  std::string text;
};

struct Report {
  std::vector<Line> checks;
  std::vector<SubjectNote> subjects;
  std::vector<CellRow> cells;  // in the order of kMatrix
  std::vector<Line> self_tests;
  std::vector<Line> proofs;
  bool complete = true;  // every cell could be tried, given what is installed
};

struct Counts {
  int passed = 0;
  int failed = 0;
  int warned = 0;
  int not_yet = 0;
  int skipped = 0;
  int not_separated = 0;
};
Counts count(const Report& report);

// For people: checks, the matrix with its legend, the reason of every cell that is not PASS, proofs, counts. Or one
// JSON object per check, cell, self-test and proof, and a summary.
void print(Console& console, const Report& report);

// The text in lines of at most `columns`, the first led by `head` and the others by as many blanks. Words are not cut.
std::string wrapped(std::string_view head, int head_width, std::string_view text, int columns);

}  // namespace intray::cli::doctor
