// The client against a real server: what goes over the wire, and on how many connections.
#include <catch2/catch.hpp>

#include "client_fixture.h"
#include "scripted_server.h"

namespace intray::test {
namespace {

using model::Transport;
using receiver::ReadResult;
using namespace std::chrono_literals;

FixtureOptions options_for(const ScriptedServer& server) {
  FixtureOptions out;
  out.address = server.address();
  return out;
}

TEST_CASE("a save goes out once, with exactly the fixed headers, and its success is recognized") {
  ScriptedServer server(answer_always(reply("200 OK", "null", "Content-Type: application/json\r\n")));
  ClientFixture fixture(options_for(server));
  const auto attempt = base::AttemptId::generate();
  const auto request = fixture.request("/app/vault/note \u00e4.md", "line\n\u20ac \"q\"");
  const std::int64_t wire_bytes = fixture.client->wire_bytes(request);
  const std::size_t index = fixture.start_save(request, fixture.coordinator.mint(attempt));
  fixture.finish();

  const receiver::MutationResult& result = *fixture.results[index];
  CHECK(result.answer.transport == Transport::kAnswered);
  CHECK(result.answer.http_status == 200);
  CHECK(result.answer.expected_body);
  CHECK_FALSE(result.retry_after);
  REQUIRE(server.requests().size() == 1);
  const RawRequest sent = server.requests().front();
  CHECK(sent.head == "POST /api/vault/save HTTP/1.1\r\nHost: " + server.address() +
                         "\r\nUser-Agent: intray/" INTRAY_VERSION "\r\nIdempotency-Key: " + kIdempotencyKey +
                         "\r\nX-Request-Id: " + attempt.str() + "\r\nIntray-Fence: " + kFence +
                         "\r\nContent-Type: application/json\r\nAuthorization: Bearer " + kSecret +
                         "\r\nContent-Length: " + std::to_string(sent.body.size()) + "\r\n\r\n");
  CHECK(sent.body == R"({"content":"line\n\u20ac \"q\"","path":"/app/vault/note \u00e4.md"})");
  CHECK(static_cast<std::int64_t>(sent.head.size() + sent.body.size()) == wire_bytes);
  CHECK(result.bytes_sent == wire_bytes);
}

TEST_CASE("the wire size is exact for bodies of every length of number") {
  ScriptedServer server(answer_always(reply("200 OK", "null")));
  ClientFixture fixture(options_for(server));
  for (const std::size_t size : {0U, 1U, 50U, 900U, 9'000U, 70'000U, 200'000U, 1'200'000U}) {
    const auto request = fixture.request("/app/vault/a.md", std::string(size, 'x') + "\u00e9\U0001F600\x01");
    const std::int64_t wire_bytes = fixture.client->wire_bytes(request);
    const auto result = fixture.save(request);
    CHECK(result.answer.expected_body);
    const RawRequest sent = server.requests().back();
    CHECK(static_cast<std::int64_t>(sent.head.size() + sent.body.size()) == wire_bytes);
    CHECK(result.bytes_sent == wire_bytes);
    CHECK_FALSE(sent.header("Expect"));
  }
  CHECK(server.connections() == 1);
}

TEST_CASE("a read asks with the percent-encoded path and hashes what it finds") {
  ScriptedServer server(answer_always(reply("200 OK", R"({"content":"a\u00e9\ud83d\ude00\n"})")));
  ClientFixture fixture(options_for(server));
  const ReadResult result = fixture.read("/app/vault/a b&\u00e4.md");
  CHECK(result.kind == ReadResult::Kind::kFound);
  CHECK(result.content_sha256 == base::sha256("a\u00e9\U0001F600\n"));
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests().front().head ==
        "GET /api/vault/content?path=%2Fapp%2Fvault%2Fa%20b%26%C3%A4.md HTTP/1.1\r\nHost: " + server.address() +
            "\r\nUser-Agent: intray/" INTRAY_VERSION "\r\nAuthorization: Bearer " + kSecret + "\r\n\r\n");
}

TEST_CASE("a read knows missing from unavailable") {
  const auto [text, kind] = GENERATE(table<std::string, ReadResult::Kind>({
      {reply("400 Bad Request", R"({"error":"Invalid or missing path"})"), ReadResult::Kind::kMissing},
      {reply("400 Bad Request", R"({ "error" : "Invalid or missing path" })"), ReadResult::Kind::kMissing},
      {reply("400 Bad Request", R"({"error":"Invalid or missing path."})"), ReadResult::Kind::kUnavailable},
      {reply("400 Bad Request", R"({"error":"Invalid or missing path","x":1})"), ReadResult::Kind::kUnavailable},
      {reply("404 Not Found", R"({"error":"Invalid or missing path"})"), ReadResult::Kind::kUnavailable},
      {reply("200 OK", R"({"error":"Invalid or missing path"})"), ReadResult::Kind::kUnavailable},
      {reply("200 OK", R"({"content":"a","content":"b"})"), ReadResult::Kind::kUnavailable},
      {reply("200 OK", R"({"content":1})"), ReadResult::Kind::kUnavailable},
      {reply("200 OK", R"({"content":"a"} x)"), ReadResult::Kind::kUnavailable},
      {reply("200 OK", R"({"content":"\ud800"})"), ReadResult::Kind::kUnavailable},
      {reply("200 OK", "<html>signed out</html>"), ReadResult::Kind::kUnavailable},
      {reply("204 No Content", ""), ReadResult::Kind::kUnavailable},
      {reply("500 Oops", R"({"content":"a"})"), ReadResult::Kind::kUnavailable},
      {reply("301 Moved", "", "Location: /elsewhere\r\n"), ReadResult::Kind::kUnavailable},
  }));
  ScriptedServer server(answer_always(text));
  ClientFixture fixture(options_for(server));
  CHECK(fixture.read().kind == kind);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("requests one after another share one connection") {
  ScriptedServer server(answer_always(reply("200 OK", "null")));
  ClientFixture fixture(options_for(server));
  for (int i = 0; i < 50; ++i) REQUIRE(fixture.save().answer.expected_body);
  for (int i = 0; i < 50; ++i) fixture.read();
  CHECK(server.requests().size() == 100);
  CHECK(server.connections() == 1);
}

TEST_CASE("64 saves at once complete, each with its own body, and the next 64 reuse their connections") {
  ScriptedServer server(answer_always(reply("200 OK", "null")));
  ClientFixture fixture(options_for(server));
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < 64; ++i) fixture.start_save(fixture.request("/app/vault/" + std::to_string(i) + ".md"));
    CHECK(fixture.client->in_flight() == 64);
    fixture.finish();
  }
  for (const auto& result : fixture.results) CHECK(result->answer.expected_body);
  CHECK(server.requests().size() == 128);
  CHECK(server.connections() <= 64 + 4);  // and what was dialled ahead
}

TEST_CASE("no more than in_flight_max requests are out at once") {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  ScriptedServer server([&](ScriptedServer& self, Peer& peer) {
    while (const auto request = peer.request()) {
      self.record(*request);
      const int here = ++now;
      for (int seen = most; here > seen && !most.compare_exchange_weak(seen, here);) {
      }
      peer.pause(2ms);
      --now;
      if (!peer.send(reply("200 OK", "null"))) return;
    }
  });
  FixtureOptions options = options_for(server);
  options.in_flight_max = 3;
  ClientFixture fixture(options);
  for (int i = 0; i < 40; ++i) fixture.start_save(fixture.request());
  fixture.finish();
  CHECK(server.requests().size() == 40);
  CHECK(most <= 3);
}

TEST_CASE("a server that closes after each answer gets one connection per request") {
  ScriptedServer server([](ScriptedServer& self, Peer& peer) {
    const auto request = peer.request();
    if (!request) return;
    self.record(*request);
    peer.send(reply("200 OK", "null", "Connection: close\r\n"));
  });
  ClientFixture fixture(options_for(server));
  for (int i = 0; i < 30; ++i) REQUIRE(fixture.save().answer.expected_body);
  CHECK(server.requests().size() == 30);
  CHECK(server.connections() >= 30);
}

TEST_CASE("a name in the URL goes into Host, and nothing is looked up") {
  ScriptedServer server(answer_always(reply("200 OK", "null")));
  FixtureOptions options = options_for(server);
  options.url = "http://notes.invalid:" + std::to_string(server.port());
  ClientFixture fixture(options);
  CHECK(fixture.save().answer.expected_body);
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests().front().header("Host") == "notes.invalid:" + std::to_string(server.port()));
}

TEST_CASE("an IPv6 receiver works") {
  std::optional<ScriptedServer> server;
  try {
    server.emplace(answer_always(reply("200 OK", "null")), true);
  } catch (const std::runtime_error&) {
    WARN("SKIPPED: no IPv6 loopback here");
    return;
  }
  ClientFixture fixture(options_for(*server));
  const auto request = fixture.request();
  const std::int64_t wire_bytes = fixture.client->wire_bytes(request);
  const auto result = fixture.save(request);
  CHECK(result.answer.expected_body);
  CHECK(result.bytes_sent == wire_bytes);
}

TEST_CASE("proxies of the environment are ignored") {
  ScriptedServer server(answer_always(reply("200 OK", "null")));
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"})
    ::setenv(name, "http://127.0.0.1:9", 1);
  ClientFixture fixture(options_for(server));
  CHECK(fixture.save().answer.expected_body);
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"}) ::unsetenv(name);
  REQUIRE(server.requests().size() == 1);
  CHECK(server.requests().front().line() == "POST /api/vault/save HTTP/1.1");
}

TEST_CASE("a redirect is an answer, not an order") {
  const std::string status =
      GENERATE("301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent");
  ScriptedServer server(answer_always(reply(status, "", "Location: /api/vault/other\r\n")));
  ClientFixture fixture(options_for(server));
  const auto result = fixture.save();
  CHECK(result.answer.transport == Transport::kAnswered);
  CHECK(result.answer.http_status / 100 == 3);
  CHECK_FALSE(result.answer.expected_body);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a save's success is 200 with exactly null") {
  const auto [text, expected] = GENERATE(table<std::string, bool>({
      {reply("200 OK", "null"), true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nnu\r\n2\r\nll\r\n0\r\n\r\n", true},
      {"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + reply("200 OK", "null"), true},
      {reply("200 OK", "null\n"), false},
      {reply("200 OK", ""), false},
      {reply("200 OK", "NULL"), false},
      {reply("201 Created", "null"), false},
      {reply("200 OK", "<html>please sign in</html>", "Content-Type: text/html\r\n"), false},
      {reply("200 OK", "null", "Content-Encoding: gzip\r\n"), true},
  }));
  ScriptedServer server(answer_always(text));
  ClientFixture fixture(options_for(server));
  const auto result = fixture.save();
  CHECK(result.answer.transport == Transport::kAnswered);
  CHECK(result.answer.expected_body == expected);
}

TEST_CASE("Retry-After is told in both forms, within bounds, and only where it counts") {
  const auto [status, header, least, most] = GENERATE(table<std::string, std::string, int, int>({
      {"429 Slow", "Retry-After: 7\r\n", 7, 7},
      {"503 Busy", "retry-after:  120 \r\n", 120, 120},
      {"503 Busy", "Retry-After: 99999999999999999999\r\n", 86'400, 86'400},
      {"503 Busy", "Retry-After: 90000\r\n", 86'400, 86'400},
      {"503 Busy", "Retry-After: Thu, 01 Jan 1970 00:00:00 GMT\r\n", 0, 0},
      {"503 Busy", "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n", 86'400, 86'400},
      {"503 Busy", "Retry-After: 3\r\nRetry-After: 9\r\n", 9, 9},
      {"503 Busy", "", -1, -1},
      {"503 Busy", "Retry-After: -5\r\n", -1, -1},
      {"503 Busy", "Retry-After: soon\r\n", -1, -1},
      {"500 Oops", "Retry-After: 7\r\n", -1, -1},
  }));
  ScriptedServer server(answer_always(reply(status, "", header)));
  ClientFixture fixture(options_for(server));
  const auto result = fixture.save();
  CAPTURE(status, header);
  CHECK(result.answer.transport == Transport::kAnswered);
  const auto seconds = result.retry_after ? result.retry_after->count() / 1'000'000 : -1;
  CHECK(seconds >= least);
  CHECK(seconds <= most);
}

}  // namespace
}  // namespace intray::test
