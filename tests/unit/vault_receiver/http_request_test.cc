#include "vault-receiver/http_request.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "vault-receiver/bounds.h"

namespace intray::vault_receiver {
namespace {

using State = RequestReader::State;

const std::string kPost =
    "POST /api/vault/save HTTP/1.1\r\nHost: v\r\nX-Request-Id:  a b \t\r\nContent-Length: 5\r\n\r\nhello";

// The status a request is refused with; 0: accepted, -1: more is awaited.
int status_of(const std::string& bytes) {
  RequestReader reader;
  reader.take(bytes);
  if (reader.state() == State::kReading) return -1;
  return reader.state() == State::kRefused ? reader.refusal().status : 0;
}

std::string get(const std::string& headers) { return "GET / HTTP/1.1\r\nHost: v\r\n" + headers + "\r\n"; }

void check_post(const Request& request) {
  CHECK(request.method == "POST");
  CHECK(request.path == "/api/vault/save");
  REQUIRE(request.header("x-request-id") != nullptr);
  CHECK(*request.header("x-request-id") == "a b");
  CHECK(request.header("X-Request-Id") == nullptr);
  CHECK(request.body == "hello");
  CHECK(request.keep_alive);
}

TEST_CASE("http: a request cut at any byte is the same request, and the next one is left alone") {
  const std::string next = "GET / HTTP/1.1\r\n";
  for (std::size_t cut = 0; cut <= kPost.size(); ++cut) {
    RequestReader reader;
    std::string bytes = kPost.substr(0, cut);
    CHECK(reader.take(bytes) == cut);
    CHECK(reader.begun() == (cut > 0));
    const std::string rest = kPost.substr(cut) + next;
    CHECK(reader.take(rest) == kPost.size() - cut);
    REQUIRE(reader.state() == State::kComplete);
    check_post(reader.release());
    CHECK_FALSE(reader.begun());
  }
}

TEST_CASE("http: a request that arrives byte by byte is read, and the reader is ready for another") {
  RequestReader reader;
  for (int round = 0; round < 2; ++round) {
    for (const char c : kPost) {
      REQUIRE(reader.state() == State::kReading);
      CHECK(reader.take(std::string_view(&c, 1)) == 1);
    }
    REQUIRE(reader.state() == State::kComplete);
    check_post(reader.release());
  }
}

TEST_CASE("http: every refused request is refused wherever it is cut") {
  const std::string smuggled = "POST / HTTP/1.1\r\nHost: v\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx";
  for (std::size_t cut = 0; cut < smuggled.size() - 1; ++cut) {
    RequestReader reader;
    reader.take(smuggled.substr(0, cut));
    reader.take(smuggled.substr(cut));
    REQUIRE(reader.state() == State::kRefused);
    CHECK(reader.refusal().status == 400);
    CHECK(reader.take("more") == 0);
  }
}

TEST_CASE("http: what could be read in two ways is refused") {
  const auto [bytes, status] = GENERATE(table<std::string, int>({
      {get(""), 0},
      {"GET / HTTP/1.0\r\n\r\n", 0},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {get("Host: w\r\n"), 400},
      {"GET / HTTP/1.1\nHost: v\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: v\n\r\n", 400},
      {"\r\nGET / HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {std::string("\x16\x03\x01", 3), 400},
      {std::string("\0", 1), 400},
      {"GET /\r\n\r\n", 400},
      {"GET  HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {"GET / / HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {"GET http://v/ HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {"G\tT / HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {"GET /\x01 HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {"GET /\xC3\xA4 HTTP/1.1\r\nHost: v\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: v\r\n\r\n", 505},
      {"GET / http/1.1\r\nHost: v\r\n\r\n", 400},
      {get("X : 1\r\n"), 400},
      {get(" folded: 1\r\n"), 400},
      {get("X\r\n"), 400},
      {get(": 1\r\n"), 400},
      {get("X: a\rb\r\n"), 400},
      {get(std::string("X: a\0b\r\n", 8)), 400},
      {get("Content-Length: 0\r\nContent-Length: 0\r\n"), 400},
      {get("Content-Length: 0, 0\r\n"), 400},
      {get("Content-Length: +1\r\n"), 400},
      {get("Content-Length: -1\r\n"), 400},
      {get("Content-Length: 1x\r\n"), 400},
      {get("Content-Length:\r\n"), 400},
      {get("Content-Length: 0x10\r\n"), 400},
      {get("Content-Length: 33554433\r\n"), 413},
      {get("Content-Length: 99999999999999999999999999\r\n"), 413},
      {get("Transfer-Encoding: chunked\r\n"), 501},
      {get("Transfer-Encoding: identity\r\nContent-Length: 0\r\n"), 400},
      {get("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), 400},
      {get("Intray-Fence: a\r\nINTRAY-FENCE: b\r\n"), 400},
      {get("Idempotency-Key: a\r\nIdempotency-Key: a\r\n"), 400},
      {get("Expect: something\r\nContent-Length: 1\r\n"), 417},
      {"POST / HTTP/1.1\r\nHost: v\r\n\r\n", 411},
      {"PUT / HTTP/1.1\r\nHost: v\r\n\r\n", 411},
      {"POST / HTTP/1.1\r\nHost: v\r\nContent-Length: 0\r\n\r\n", 0},
      {"POST / HTTP/1.1\r\nHost: v\r\nContent-Length: 1\r\n\r\n", -1},
  }));
  CAPTURE(bytes);
  CHECK(status_of(bytes) == status);
}

TEST_CASE("http: the head is bounded to the byte") {
  const std::string frame = get("X: \r\n");
  CHECK(status_of(get("X: " + std::string(kHeadBytesMax - frame.size(), 'x') + "\r\n")) == 0);
  CHECK(status_of(get("X: " + std::string(kHeadBytesMax - frame.size() + 1, 'x') + "\r\n")) == 431);
  CHECK(status_of("GET / HTTP/1.1\r\nX: " + std::string(10 * kHeadBytesMax, 'x')) == 431);

  std::string many;
  for (std::size_t i = 1; i < kHeaderCountMax; ++i) many += "X: 1\r\n";
  CHECK(status_of(get(many)) == 0);
  CHECK(status_of(get(many + "X: 1\r\n")) == 431);
}

TEST_CASE("http: keep-alive follows version and Connection") {
  const auto [bytes, keep] = GENERATE(table<std::string, bool>({
      {get(""), true},
      {get("Connection: close\r\n"), false},
      {get("Connection: foo , CLOSE\r\n"), false},
      {get("Connection: keep-alive\r\n"), true},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
  }));
  RequestReader reader;
  reader.take(bytes);
  REQUIRE(reader.state() == State::kComplete);
  CHECK(reader.release().keep_alive == keep);
}

TEST_CASE("http: a wish for 100 Continue is told once, and only while the body is awaited") {
  const std::string head = "POST / HTTP/1.1\r\nHost: v\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
  RequestReader waiting;
  waiting.take(head);
  CHECK(waiting.take_continue_wish());
  CHECK_FALSE(waiting.take_continue_wish());
  RequestReader sent;
  sent.take(head + "xx");
  CHECK_FALSE(sent.take_continue_wish());
}

TEST_CASE("http: query members are decoded, broken escapes are refused") {
  std::string out;
  CHECK(query_member("a=1&path=%2Fapp%2Fa%20b+c%c3%a4%00&path=2", "path", out));
  CHECK(out == std::string("/app/a b c\xC3\xA4\0", 13));
  CHECK(query_member("path", "path", out));
  CHECK(out.empty());
  CHECK_FALSE(query_member("", "path", out));
  CHECK_FALSE(query_member("xpath=1&pathx=2", "path", out));
  for (const char* broken : {"path=%", "path=%4", "path=%4g", "path=%-1"})
    CHECK_FALSE(query_member(broken, "path", out));
}

}  // namespace
}  // namespace intray::vault_receiver
