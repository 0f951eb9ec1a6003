#include "cli/doctor/report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/doctor/proofs.h"
#include "cli/doctor/self_test.h"
#include "cli/text.h"
#include "test_console.h"

using namespace intray;
using namespace intray::cli;
using namespace intray::cli::doctor;

namespace {

Report sample() {
  Report report;
  report.checks = {{Status::kInfo, "kernel", "Linux 6.1", ""},
                   {Status::kWarn, "filesystem",
                    "it has no journal, and this is a long text that must be broken over lines "
                    "wherever the terminal ends, at a blank and never inside a word",
                    ""}};
  report.subjects = {{Subject::kRequester, "intray-rq (uid 998, groups intray-rq)"}};
  for (std::size_t r = 0; r < kMatrix.size(); ++r) {
    CellRow row;
    for (std::size_t s = 0; s < kSubjects; ++s) row[s] = {Status::kPass, kMatrix[r].expect[s] == Expect::kYes, ""};
    report.cells.push_back(row);
  }
  report.proofs = {
      {Status::kSuite, "IDEMPOTENCY", "not tried here; the suite shows it", "integration-bad_input: test_x"}};
  return report;
}

Cell& at(Report& report, std::string_view label, Subject s) {
  for (std::size_t r = 0; r < kMatrix.size(); ++r)
    if (kMatrix[r].label == label) return report.cells[r][static_cast<std::size_t>(s)];
  FAIL("no such row");
  std::abort();
}

std::string printed(const Report& report, int columns) {
  TestConsole test;
  test.console.columns = columns;
  print(test.console, report);
  return test.out.str();
}

std::string line_with(const std::string& text, const std::string& what) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(what) != std::string::npos) return line;
  return {};
}

}  // namespace

TEST_CASE("report: fits terminals of 80 to 120 columns, with all nine subjects") {
  for (const int columns : {80, 100, 120}) {
    INFO(columns);
    std::istringstream lines(printed(sample(), columns));
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(width(line) <= columns);
      CHECK((line.empty() || line.back() != ' '));
    }
  }
}

TEST_CASE("report: columns stand below their heads") {
  Report report = sample();
  at(report, "save credential: read", Subject::kRequester) = {Status::kFail, true,
                                                              "must be refused, and was allowed: rq: /c"};
  const std::string text = printed(report, 120);
  const std::string heads = line_with(text, "mirror  admin");
  const std::string row = line_with(text, "save credential: read  ");
  CHECK(row.find("FAIL") == heads.find("rq"));
  CHECK(row.rfind("no") == heads.find("recv"));
  CHECK(text.find("FAIL    requester, save credential: read: must be refused, and was allowed: rq: /c") !=
        std::string::npos);
  CHECK(text.find("1 FAIL") != std::string::npos);
}

TEST_CASE("report: what isn't installed takes no column and no row, and is told once") {
  Report report = sample();
  for (CellRow& row : report.cells)
    for (const Subject s : {Subject::kDeleteExecutor, Subject::kDeleteConnector})
      row[static_cast<std::size_t>(s)] = {Status::kNotYet, std::nullopt, "not installed here"};
  for (std::size_t r = 0; r < kMatrix.size(); ++r)
    if (kMatrix[r].label.starts_with("delete "))
      report.cells[r].fill({Status::kNotYet, std::nullopt, "not installed here"});
  const std::string text = printed(report, 120);
  CHECK(line_with(text, "mirror  admin").find("d-con") == std::string::npos);
  CHECK(text.find("  delete ledger: read  ") == std::string::npos);
  const std::string reason = line_with(text, "NOT YET delete credential;");
  CHECK_FALSE(reason.empty());
  CHECK(text.find("NOT YET", text.find("NOT YET delete credential;") + 1) == text.rfind("NOT YET"));  // the counts
}

TEST_CASE("report: one user is said plainly, and is no PASS") {
  Report report = sample();
  for (CellRow& row : report.cells)
    row[static_cast<std::size_t>(Subject::kRequester)] = {Status::kNotSeparated, std::nullopt,
                                                          "not separated: user mode"};
  const std::string text = printed(report, 100);
  CHECK(text.find("ONE USER") != std::string::npos);
  CHECK(text.find("requester: not separated: user mode") != std::string::npos);
  CHECK(count(report).not_separated == static_cast<int>(kMatrix.size()));
  CHECK(text.find(std::to_string(kMatrix.size()) + " not separated: user mode") != std::string::npos);
}

TEST_CASE("report: JSON has every cell with how it was tried") {
  TestConsole test;
  test.console.json = true;
  print(test.console, sample());
  std::istringstream lines(test.out.str());
  std::size_t cells = 0;
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line);
    if (last["type"] != "cell") continue;
    ++cells;
    CHECK_FALSE(last["how"].get<std::string>().empty());
    CHECK(last["result"] == "PASS");
  }
  CHECK(cells == kMatrix.size() * kSubjects);
  CHECK(last["type"] == "summary");
  CHECK(last["warned"] == 1);
  CHECK(last["passed"] == kMatrix.size() * kSubjects);
}

TEST_CASE("wrapped: breaks at blanks, keeps long words whole, indents what follows") {
  CHECK(wrapped("ab  ", 4, "one two three", 12) == "ab  one two\n    three\n");
  CHECK(wrapped("", 0, "anextremelylongword x", 8) == "anextremelylongword\nx\n");
  CHECK(wrapped("head  ", 6, "", 20) == "head\n");
}

TEST_CASE("self-test: an answer becomes its lines") {
  const auto lines = read_self_test(
      "intray-save", 0,
      R"({"status":"full","landlock_abi":6,"checks":[{"name":"foreign file","result":"pass","how":"open: EACCES"},{"name":"exec","result":"fail","how":"it ran"}]})");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].status == Status::kPass);
  CHECK(lines[0].text == "confinement full, Landlock ABI 6");
  CHECK(lines[1].status == Status::kPass);
  CHECK(lines[1].text == "open: EACCES");
  CHECK(lines[2].status == Status::kFail);
}

TEST_CASE("self-test: reduced is a warning, a refusal to start a failure, silence never a pass") {
  CHECK(read_self_test("x", 0, R"({"status":"reduced","checks":[]})")[0].status == Status::kWarn);
  CHECK(read_self_test("x", 70, R"({"status":"none","checks":[]})")[0].status == Status::kFail);
  CHECK(read_self_test("x", 70, R"({"status":"full","checks":[]})")[0].status == Status::kFail);
  CHECK(read_self_test("x", 0, R"({"status":"none","checks":[]})")[0].status == Status::kFail);
  CHECK(read_self_test("x", 0, "")[0].status == Status::kFail);
  CHECK(read_self_test("x", 0, "[]")[0].status == Status::kFail);
  CHECK(read_self_test("x", 0, R"({"status":"full","checks":[1]})")[1].status == Status::kFail);
  CHECK(read_self_test("x", 2, "")[0].status == Status::kNotYet);
  CHECK(read_self_test("x", 78, "")[0].status == Status::kSkipped);
}

TEST_CASE("self-test: hostile text stays on its line") {
  const auto lines = read_self_test(
      "x", 0, "{\"status\":\"full\",\"checks\":[{\"name\":\"a\\u001b[2J\",\"result\":\"pass\",\"how\":\"b\\nc\"}]}");
  CHECK(lines[1].name.find('\x1b') == std::string::npos);
  CHECK(lines[1].text.find('\n') == std::string::npos);
}
