#include "cli/table.h"

#include <catch2/catch.hpp>

#include "cli/text.h"
#include "test_console.h"

using namespace intray::cli;

TEST_CASE("Table: columns line up, numbers to the right, no blanks at the end of a line") {
  TestConsole test;
  Table table(test.console, {{"STATE"}, {"AGE", Column::Fit::kWhole, true}, {"PATH"}});
  table.add({{"READY"}, {"5s"}, {"/a"}});
  table.add({{"EXECUTING"}, {"100s"}, {""}});
  table.finish();
  CHECK(test.out.str() ==
        "STATE       AGE  PATH\n"
        "READY        5s  /a\n"
        "EXECUTING  100s\n");
}

TEST_CASE("Table: wide letters keep the columns straight") {
  TestConsole test;
  Table table(test.console, {{"A"}, {"B"}});
  table.add({{"日本"}, {"x"}});
  table.add({{"ü"}, {"y"}});
  table.finish();
  CHECK(test.out.str() == "A     B\n日本  x\nü     y\n");
}

TEST_CASE("Table: without rows nothing is printed") {
  TestConsole test;
  Table table(test.console, {{"A"}});
  table.finish();
  CHECK(test.out.str().empty());
}

TEST_CASE("Table: on a narrow terminal only what may be cut is cut") {
  TestConsole test;
  test.console.columns = 30;
  Table table(test.console, {{"JOB"}, {"PATH", Column::Fit::kCutStart}, {"WHY", Column::Fit::kCutEnd}});
  table.add({{"0b0e5b1c"}, {"/app/vault/a/very/long/way/note.md"}, {"RECEIVER_UNAVAILABLE"}});
  table.finish();
  std::istringstream lines(test.out.str());
  for (std::string line; std::getline(lines, line);) CHECK(width(line) <= 30);
  CHECK(test.out.str().find("0b0e5b1c") != std::string::npos);
  CHECK(test.out.str().find("note.md") != std::string::npos);
}

TEST_CASE("Table: colour wraps the text, not the padding, and only where it is on") {
  TestConsole test;
  test.console.colour = true;
  Table table(test.console, {{"A"}, {"B"}});
  table.add({{"x", Colour::kRed}, {"y"}});
  table.finish();
  CHECK(test.out.str() == "\x1b[2mA\x1b[0m  \x1b[2mB\x1b[0m\n\x1b[1;31mx\x1b[0m  y\n");
}

TEST_CASE("Table: more rows than are held back come out all, in order") {
  TestConsole test;
  Table table(test.console, {{"N"}});
  for (int i = 0; i < 2'500; ++i) table.add({{std::to_string(i)}});
  table.finish();
  std::istringstream lines(test.out.str());
  std::string line;
  std::getline(lines, line);
  CHECK(line == "N");
  int n = 0;
  while (std::getline(lines, line)) CHECK(line == std::to_string(n++));
  CHECK(n == 2'500);
}

TEST_CASE("fit_widths: the widest gives way first, none below its floor") {
  const std::vector<Column> shapes = {{"A"}, {"B", Column::Fit::kCutEnd}, {"C", Column::Fit::kCutEnd}};
  CHECK(fit_widths({10, 40, 20}, shapes, 0) == std::vector<int>{10, 40, 20});
  CHECK(fit_widths({10, 40, 20}, shapes, 54) == std::vector<int>{10, 20, 20});
  CHECK(fit_widths({10, 40, 20}, shapes, 5) == std::vector<int>{10, 8, 8});
}
