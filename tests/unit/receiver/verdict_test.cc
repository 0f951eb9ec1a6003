#include "receiver/verdict.h"

#include <catch2/catch.hpp>

namespace intray::receiver {
namespace {

using model::Transport;

TEST_CASE("before the request: nothing was sent, whatever libcurl says") {
  for (int code = 1; code < CURL_LAST; ++code) {
    const Transport got = transport_of({.result = static_cast<CURLcode>(code)});
    CAPTURE(code);
    CHECK((got == Transport::kNotSent || got == Transport::kTls));
  }
  CHECK(transport_of({.result = CURLE_COULDNT_CONNECT}) == Transport::kNotSent);
  CHECK(transport_of({.result = CURLE_OPERATION_TIMEDOUT}) == Transport::kNotSent);
  CHECK(transport_of({.result = CURLE_PEER_FAILED_VERIFICATION, .tls = true}) == Transport::kTls);
  CHECK(transport_of({.result = CURLE_SSL_CONNECT_ERROR, .error_text = "wrong version number", .tls = true}) ==
        Transport::kTls);
}

TEST_CASE("a handshake that was cut is no TLS failure") {
  for (const char* text :
       {"OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:1", "OpenSSL SSL_connect: Connection reset by peer",
        "error:0A000126:SSL routines::unexpected eof while reading"})
    CHECK(transport_of({.result = CURLE_SSL_CONNECT_ERROR, .error_text = text, .tls = true}) == Transport::kNotSent);
  CHECK(transport_of({.result = CURLE_PEER_FAILED_VERIFICATION, .error_text = "Connection reset", .tls = true}) ==
        Transport::kTls);
}

TEST_CASE("a refused first call is refused, a refused second one is lost") {
  CHECK(transport_of({.result = CURLE_ABORTED_BY_CALLBACK, .grant_refused = true}) == Transport::kRefused);
  CHECK(transport_of({.result = CURLE_ABORTED_BY_CALLBACK, .request_begun = true, .second_try = true}) ==
        Transport::kLost);
}

TEST_CASE("once the request began, only an untouched plaintext connection proves that nothing left") {
  const Facts untouched{.result = CURLE_SEND_ERROR, .request_begun = true};
  CHECK(transport_of(untouched) == Transport::kNotSent);
  Facts facts = untouched;
  SECTION("bytes") { facts.bytes_sent = 1; }
  SECTION("an answer") { facts.answer_begun = true; }
  SECTION("a second try") { facts.second_try = true; }
  SECTION("TLS") { facts.tls = true; }
  SECTION("libcurl is content") { facts.result = CURLE_OK; }
  CHECK(transport_of(facts) == Transport::kLost);
}

TEST_CASE("only a complete head and a content libcurl make an answer") {
  const Facts good{
      .result = CURLE_OK, .request_begun = true, .bytes_sent = 100, .answer_begun = true, .head_complete = true};
  CHECK(transport_of(good) == Transport::kAnswered);
  Facts facts = good;
  facts.head_complete = false;
  CHECK(transport_of(facts) == Transport::kLost);
  for (int code = 1; code < CURL_LAST; ++code) {
    facts = good;
    facts.result = static_cast<CURLcode>(code);
    CHECK(transport_of(facts) == Transport::kLost);
  }
}

}  // namespace
}  // namespace intray::receiver
