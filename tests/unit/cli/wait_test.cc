#include "cli/wait.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "cli/exit_code.h"
#include "test_console.h"

using namespace intray;
using namespace intray::cli;
using namespace std::chrono_literals;
using model::State;

namespace {

class Site {
 public:
  Site() {
    std::string name = (std::filesystem::temp_directory_path() / "intray-wait-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root = name;
    std::filesystem::create_directories(root + "/save/receipts");
  }
  ~Site() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  void append(const std::string& day, const std::string& text) const {
    std::ofstream(root + "/save/receipts/" + day + ".jsonl", std::ios::app) << text;
  }
  std::string root;
};

const base::JobId kFirst = *base::JobId::parse("0b0e5b1c-1111-4222-8333-444455556666");
const base::JobId kSecond = *base::JobId::parse("1b0e5b1c-1111-4222-8333-444455556666");

model::Receipt receipt(const base::JobId& id, State state, std::int64_t seq) {
  model::Receipt r;
  r.job_id = id;
  r.job_sha256 = base::sha256("job");
  r.state = state;
  r.result = state == State::kSucceeded ? model::ResultWord::kApplied : model::ResultWord::kNoEffect;
  if (state != State::kSucceeded) r.reason = model::Reason::kReceiverError;
  r.audit_seq = {seq};
  r.epoch = {1};
  r.worker_id = base::WorkerId::generate();
  return r;
}

std::string line(const base::JobId& id, State state, std::int64_t seq) {
  return model::to_line(receipt(id, state, seq)) + "\n";
}

}  // namespace

TEST_CASE("parse_wait: seconds or a duration") {
  CHECK(parse_wait("30") == base::Micros{30s});
  CHECK(parse_wait("5m") == base::Micros{5min});
  for (const char* text : {"", "-1", "1.5", "x", "5 s"}) CHECK_FALSE(parse_wait(text));
}

TEST_CASE("Wait: ends as soon as every job has a receipt, with the worst one's code") {
  const Site site;
  site.append("2026-11-30", line(kFirst, State::kSucceeded, 1) + "torn {\n" + line(kSecond, State::kFailed, 2));
  TestConsole test;
  Wait wait;
  wait.add(kFirst, base::sha256("job"), test.clock.wall());
  wait.add(kSecond, base::sha256("job"), test.clock.wall());
  CHECK(wait.run(test.console, site.root, model::JobKind::kSave, std::nullopt) == 10);
  CHECK(test.out.str() == kFirst.str() + "  SUCCEEDED  APPLIED\n" + kSecond.str() + "  FAILED  RECEIVER_ERROR\n");
  CHECK(test.err.str() == "intray: 2 jobs: 1 succeeded, 1 failed\n");
}

TEST_CASE("Wait: time that runs out is worse than REJECTED and better than unknown") {
  const Site site;
  site.append("2026-11-30", line(kFirst, State::kRejected, 1));
  TestConsole test;
  Wait wait;
  wait.add(kFirst, base::sha256("job"), test.clock.wall());
  wait.add(kSecond, base::sha256("job"), test.clock.wall());
  CHECK(wait.run(test.console, site.root, model::JobKind::kSave, base::Micros{0}) == kTryAgain);
  CHECK(test.err.str().find("1 not ended in time") != std::string::npos);
}

TEST_CASE("Wait: receipts that can't be read are said so") {
  TestConsole test;
  Wait wait;
  wait.add(kFirst, base::sha256("job"), test.clock.wall());
  CHECK(wait.run(test.console, "/nonexistent", model::JobKind::kSave, base::Micros{0}) == kUnreadable);
  CHECK_FALSE(test.err.str().empty());
}
