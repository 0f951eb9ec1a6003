#include "vault-receiver/request_log.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "temp_vault.h"

namespace intray::vault_receiver {
namespace {

TEST_CASE("request log: each line is one JSON object, whatever clients send, and a restart appends") {
  const TempVault dir;
  const std::string file = dir.path() + "/log";
  const base::FakeClock clock;
  LogLine line;
  line.seq = 7;
  line.conn = 3;
  line.event = "answered";
  line.path = "/app/vault/\xFF\n\"\\";
  line.request_id = "id";
  line.status = 200;
  for (int i = 0; i < 2; ++i) {
    auto log = std::move(RequestLog::open(file)).value();
    log.write(line, clock.wall());
    CHECK_FALSE(log.broken());
  }
  const std::string text = read_file(file);
  REQUIRE(std::count(text.begin(), text.end(), '\n') == 2);
  const auto json = nlohmann::json::parse(text.substr(0, text.find('\n')));
  CHECK(json["seq"] == 7);
  CHECK(json["conn"] == 3);
  CHECK(json["event"] == "answered");
  CHECK(json["path"] == "/app/vault/\xEF\xBF\xBD\n\"\\");
  CHECK(json["request_id"] == "id");
  CHECK(json["status"] == 200);
  CHECK(json["at"] == base::format_rfc3339(clock.wall()));
  CHECK_FALSE(json.contains("fence"));
}

TEST_CASE("request log: a write that fails is noticed") {
  auto log = RequestLog::open("/dev/full");
  REQUIRE(log);
  log->write(LogLine{}, base::FakeClock().wall());
  CHECK(log->broken());
}

TEST_CASE("request log: without a file nothing is written and nothing is broken") {
  RequestLog log;
  log.write(LogLine{}, base::FakeClock().wall());
  CHECK_FALSE(log.broken());
}

}  // namespace
}  // namespace intray::vault_receiver
