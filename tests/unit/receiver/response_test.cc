#include "receiver/response.h"

#include <catch2/catch.hpp>

#include "limits.h"

namespace intray::receiver {
namespace {

std::optional<base::Micros> wait_of(const std::string& field) {
  Response response;
  response.begin(64, nullptr);
  REQUIRE(response.take_header_line("HTTP/1.1 503 Busy\r\n"));
  REQUIRE(response.take_header_line(field + "\r\n"));
  REQUIRE(response.take_header_line("\r\n"));
  return response.retry_after(*base::parse_rfc3339("2026-11-30T15:34:05Z"));
}

TEST_CASE("response: Retry-After as seconds and as a date, within its bounds") {
  constexpr base::Micros kMax{limits::kRetryAfterMax_us};
  CHECK(wait_of("Retry-After: 120") == std::chrono::minutes(2));
  CHECK(wait_of("retry-after: Mon, 30 Nov 2026 15:35:05 GMT") == std::chrono::minutes(1));
  CHECK(wait_of("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT") == base::Micros{0});
  CHECK(wait_of("Retry-After: 99999999999999999999") == kMax);
  CHECK(wait_of("Retry-After: Fri, 31 Dec 9999 23:59:59 GMT") == kMax);
  // Neither fits microseconds.
  CHECK(wait_of("Retry-After: 6 Nov 2022030 08:49:37") == kMax);
  CHECK(wait_of("Retry-After: Sunday, 06-Nov-20220394 08:49:37 GMT") == kMax);
  CHECK(wait_of("Retry-After: soon") == std::nullopt);
}

}  // namespace
}  // namespace intray::receiver
