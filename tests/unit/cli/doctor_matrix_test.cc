#include "cli/doctor/matrix.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/doctor/probe.h"

using namespace intray::cli::doctor;

namespace {

// Who must be kept from it, as the column heads, in order.
std::string refused(std::string_view label) {
  const auto* const row = std::ranges::find(kMatrix, label, &Row::label);
  REQUIRE(row != kMatrix.end());
  std::string out;
  for (const SubjectText& s : kSubjectTexts)
    if (expected(*row, s.subject) == Expect::kNo) out += (out.empty() ? "" : " ") + std::string(s.head);
  return out;
}

std::string allowed(std::string_view label) {
  const auto* const row = std::ranges::find(kMatrix, label, &Row::label);
  REQUIRE(row != kMatrix.end());
  std::string out;
  for (const SubjectText& s : kSubjectTexts)
    if (expected(*row, s.subject) == Expect::kYes) out += (out.empty() ? "" : " ") + std::string(s.head);
  return out;
}

}  // namespace

TEST_CASE("matrix: the cells that the design names") {
  CHECK(refused("save credential: read") == "rq agent s-con del d-con mirror admin");
  CHECK(refused("delete credential: read") == "rq agent save s-con d-con mirror admin");
  CHECK(refused("public keys: read") == "rq agent save s-con d-con mirror recv");
  CHECK(allowed("save tmp, new: add") == "rq save");
  CHECK(allowed("save tmp, new: others'") == "save");
  CHECK(allowed("save cur to unknown: list") == "save admin");
  CHECK(allowed("save cur to unknown: add") == "save");
  CHECK(allowed("save receipts: read") == "rq save");
  CHECK(allowed("save receipts: write") == "save");
  CHECK(allowed("save ledger: read") == "save admin");
  CHECK(allowed("save ledger: write") == "save");
  CHECK(allowed("git mirror: read") == "save del mirror");
  CHECK(allowed("git mirror: write") == "mirror");
  CHECK(refused("network: make socket") == "save del");
  CHECK(refused("docker socket: connect") == "rq agent save s-con del d-con mirror recv");
  CHECK(refused("others' processes: trace") == "rq agent save s-con del d-con mirror admin recv");
}

TEST_CASE("matrix: DELETE's rows are SAVE's, with the executors changed over") {
  for (const Row& row : kMatrix) {
    if (!row.label.starts_with("save ") || row.target == Target::kSaveLocks) continue;
    const std::string label = "delete" + std::string(row.label.substr(4));
    INFO(label);
    const auto* const other = std::ranges::find(kMatrix, label, &Row::label);
    REQUIRE(other != kMatrix.end());
    CHECK(other->act == row.act);
    for (const SubjectText& s : kSubjectTexts) {
      const Subject twin = s.subject == Subject::kSaveExecutor     ? Subject::kDeleteExecutor
                           : s.subject == Subject::kDeleteExecutor ? Subject::kSaveExecutor
                                                                   : s.subject;
      CHECK(expected(*other, twin) == expected(row, s.subject));
    }
  }
}

TEST_CASE("judge: what must be refused fails on one success, whatever else was refused") {
  const Cell cell = judge(Expect::kNo, {.allowed = 1, .refused = 5, .first_allowed = "rq: /x"}, "");
  CHECK(cell.status == Status::kFail);
  CHECK(cell.could == true);
  CHECK(cell.why.find("rq: /x") != std::string::npos);
  CHECK(judge(Expect::kNo, {.refused = 6}, "").status == Status::kPass);
  CHECK(judge(Expect::kNo, {.refused = 6}, "").could == false);
}

TEST_CASE("judge: what must work fails on one refusal") {
  const Cell cell = judge(Expect::kYes, {.allowed = 5, .refused = 1, .first_refused = "/y: denied"}, "");
  CHECK(cell.status == Status::kFail);
  CHECK(cell.why.find("/y") != std::string::npos);
  CHECK(judge(Expect::kYes, {.allowed = 2}, "").could == true);
}

TEST_CASE("judge: an unclear answer is never a PASS, and never hides a FAIL") {
  CHECK(judge(Expect::kNo, {.refused = 5, .unclear = 1}, "").status == Status::kSkipped);
  CHECK(judge(Expect::kYes, {.allowed = 5, .unclear = 1}, "").status == Status::kSkipped);
  CHECK(judge(Expect::kNo, {.allowed = 1, .unclear = 1}, "").status == Status::kFail);
  CHECK(judge(Expect::kYes, {.refused = 1, .unclear = 1}, "").status == Status::kFail);
}

TEST_CASE("judge: what may be passes either way and says what was found") {
  CHECK(judge(Expect::kMay, {.allowed = 1}, "").status == Status::kPass);
  CHECK(judge(Expect::kMay, {.allowed = 1}, "").could == true);
  CHECK(judge(Expect::kMay, {.refused = 1}, "").could == false);
}

TEST_CASE("judge: nothing to try is a PASS only where nothing being there is the point") {
  CHECK(judge(Expect::kNo, {}, "").status == Status::kSkipped);
  CHECK(judge(Expect::kNo, {}, "no such socket here").status == Status::kPass);
  CHECK(judge(Expect::kYes, {}, "no such socket here").status == Status::kSkipped);
}
