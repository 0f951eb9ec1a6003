#include "model/receipt.h"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/canonical.h"

namespace intray::model {
namespace {

using Json = nlohmann::json;

Receipt applied() {
  Receipt r;
  r.job_id = base::JobId::parse("0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d");
  r.job_sha256 = base::sha256("job");
  r.kind = JobKind::kSave;
  r.state = State::kSucceeded;
  r.result = ResultWord::kApplied;
  r.attempts = 1;
  r.admitted_at = *base::parse_rfc3339("2026-11-30T15:34:05.000001Z");
  r.finished_at = *base::parse_rfc3339("2026-11-30T15:34:06Z");
  r.audit_seq = {4711};
  r.audit_hash = base::sha256("audit");
  r.epoch = {7};
  r.worker_id = *base::WorkerId::parse("11111111-2222-4333-8444-555555555555");
  r.evidence.http_status = 200;
  r.evidence.observed_sha256 = base::sha256("note");
  return r;
}

Receipt bad_file() {
  Receipt r = applied();
  r.job_id.reset();
  r.job_sha256.reset();
  r.file_name = "x\\x1b[31m.json";
  r.kind = JobKind::kDelete;
  r.state = State::kRejected;
  r.reason = Reason::kBadFileName;
  r.result = ResultWord::kDeleteDenied;
  r.attempts = 0;
  r.evidence = Evidence{std::nullopt, base::sha256("a"), std::nullopt, "name \"x\"\n does not fit, ü"};
  return r;
}

TEST_CASE("receipt: the line is the documented one") {
  CHECK(to_line(applied()) ==
        R"({"admitted_at":"2026-11-30T15:34:05.000001Z","attempts":1,"audit_hash":")" + base::sha256("audit").hex() +
            R"(","audit_seq":4711,"epoch":7,"evidence":{"http_status":200,"observed_sha256":")" +
            base::sha256("note").hex() +
            R"("},"finished_at":"2026-11-30T15:34:06.000000Z","job_id":"0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d",)"
            R"("job_sha256":")" +
            base::sha256("job").hex() +
            R"(","job_type":"C5_SAVE_OBJECT","reason":null,"receipt_version":1,"result":"APPLIED","state":"SUCCEEDED",)"
            R"("worker_id":"11111111-2222-4333-8444-555555555555"})");
}

TEST_CASE("receipt: every line is its own canonical form and comes back whole") {
  std::vector<Receipt> receipts = {applied(), bad_file()};
  for (const ReasonDoc& doc : all_reasons()) {
    Receipt r = applied();
    r.reason = doc.reason;
    r.evidence.detail = std::string(doc.what_happened);
    receipts.push_back(r);
  }
  for (int i = 0; i < kStates; ++i) {
    Receipt r = bad_file();
    r.state = static_cast<State>(i);
    receipts.push_back(r);
  }
  for (int i = 0; i <= static_cast<int>(ResultWord::kUnknown); ++i) {
    Receipt r = applied();
    r.result = static_cast<ResultWord>(i);
    receipts.push_back(r);
  }
  for (const Receipt& r : receipts) {
    const std::string line = to_line(r);
    INFO(line);
    CHECK(line.find('\n') == std::string::npos);
    const auto json = parse_canonical(line);
    REQUIRE(json);
    CHECK(to_canonical(*json) == line);
    const auto back = parse_receipt(line);
    REQUIRE(back);
    CHECK(to_line(*back) == line);
    CHECK(back->job_id == r.job_id);
    CHECK(back->file_name == r.file_name);
    CHECK(back->job_sha256 == r.job_sha256);
    CHECK(back->kind == r.kind);
    CHECK(back->state == r.state);
    CHECK(back->reason == r.reason);
    CHECK(back->result == r.result);
    CHECK(back->attempts == r.attempts);
    CHECK(back->admitted_at == r.admitted_at);
    CHECK(back->finished_at == r.finished_at);
    CHECK(back->audit_seq == r.audit_seq);
    CHECK(back->audit_hash == r.audit_hash);
    CHECK(back->epoch == r.epoch);
    CHECK(back->worker_id == r.worker_id);
    CHECK(back->evidence.http_status == r.evidence.http_status);
    CHECK(back->evidence.expected_sha256 == r.evidence.expected_sha256);
    CHECK(back->evidence.observed_sha256 == r.evidence.observed_sha256);
    CHECK(back->evidence.detail == r.evidence.detail);
  }
}

TEST_CASE("receipt: text that a caller forgot to escape never tears the line") {
  Receipt r = bad_file();
  r.file_name = "\xff\xfe.json";
  r.evidence.detail = std::string("a\0b", 3);
  const auto back = parse_receipt(to_line(r));
  REQUIRE(back);
  CHECK(back->file_name == "\\xff\\xfe.json");
  CHECK(back->evidence.detail == "a\\x00b");
}

TEST_CASE("receipt: a file's name goes only where no job id does") {
  Receipt r = applied();
  r.file_name = "x.json";
  CHECK(to_line(r).find("file_name") == std::string::npos);
  Json line = Json::parse(to_line(applied()));
  line["file_name"] = "x.json";
  CHECK(!parse_receipt(to_canonical(line)));
}

TEST_CASE("receipt: what is not exactly a receipt is corrupt") {
  const Json good = Json::parse(to_line(applied()));
  REQUIRE(parse_receipt(to_canonical(good)));
  std::vector<std::pair<std::string, std::string>> lines = {{"empty", ""},
                                                            {"torn", to_line(applied()).substr(0, 100)},
                                                            {"newline", to_line(applied()) + "\n"},
                                                            {"two", to_line(applied()) + to_line(applied())},
                                                            {"array", "[]"},
                                                            {"pretty", good.dump(1)}};
  for (const auto& [name, value] : good.items()) {
    Json changed = good;
    changed.erase(name);
    lines.emplace_back("without " + name, to_canonical(changed));
    changed = good;
    changed[name] = true;
    lines.emplace_back(name + " true", to_canonical(changed));
    changed[name] = -1;
    lines.emplace_back(name + " -1", to_canonical(changed));
    changed[name] = "";
    lines.emplace_back(name + " empty text", to_canonical(changed));
  }
  const std::vector<std::pair<std::string, Json>> changes = {{"receipt_version", 2},
                                                             {"extra", 1},
                                                             {"admitted_at", "2026-11-30T15:34:05Z"},
                                                             {"state", "READY "},
                                                             {"reason", "NO_SUCH_CODE"},
                                                             {"result", "applied"},
                                                             {"job_type", "save"},
                                                             {"attempts", 1 + (std::int64_t{1} << 31)},
                                                             {"evidence", Json::object({{"http_status", 1000}})},
                                                             {"evidence", Json::object({{"header", "x"}})},
                                                             {"evidence", Json::object({{"observed_sha256", nullptr}})},
                                                             {"evidence", nullptr}};
  for (const auto& [name, value] : changes) {
    Json changed = good;
    changed[name] = value;
    lines.emplace_back(name + " changed", to_canonical(changed));
  }
  for (const auto& [name, line] : lines) {
    INFO(name << ": " << line);
    const auto parsed = parse_receipt(line);
    REQUIRE(!parsed);
    CHECK(parsed.error().code == base::ErrorCode::kCorrupt);
    CHECK(parsed.error().what.starts_with("receipt: "));
  }
}

}  // namespace
}  // namespace intray::model
