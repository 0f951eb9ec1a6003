#include "base/clock.h"

#include <catch2/catch.hpp>
#include <string>

namespace intray::base {
namespace {

TEST_CASE("clock: RFC 3339 text has six digits of fraction and comes back") {
  CHECK(format_rfc3339(from_us(0)) == "1970-01-01T00:00:00.000000Z");
  CHECK(format_rfc3339(from_us(1'796'044'522'123'456)) == "2026-11-30T13:15:22.123456Z");
  CHECK(format_rfc3339(from_us(253'402'300'799'999'999)) == "9999-12-31T23:59:59.999999Z");
  for (const std::int64_t us :
       {0LL, 1LL, 951'782'399'999'999LL, 951'782'400'000'000LL, 1'796'044'522'123'456LL, 253'402'300'799'999'999LL}) {
    CHECK(parse_rfc3339(format_rfc3339(from_us(us))) == from_us(us));
  }
}

TEST_CASE("clock: a fraction of one to six digits is read as such") {
  const auto us = [](const char* text) { return to_us(parse_rfc3339(text).value()); };
  CHECK(us("1970-01-01T00:00:01Z") == 1'000'000);
  CHECK(us("1970-01-01T00:00:01.5Z") == 1'500'000);
  CHECK(us("1970-01-01T00:00:01.05Z") == 1'050'000);
  CHECK(us("1970-01-01T00:00:01.000001Z") == 1'000'001);
  CHECK(us("1970-01-01T00:00:00.123456Z") == 123'456);
  CHECK(us("2028-02-29T00:00:00Z") == 1'835'395'200'000'000);
  CHECK(us("2000-02-29T23:59:59Z") == 951'868'799'000'000);
}

TEST_CASE("clock: what is not exactly a UTC time of the contract is refused") {
  for (const char* text : {"",
                           "Z",
                           "2026-11-30",
                           "2026-11-30T15:34:05",
                           "2026-11-30T15:34:05z",
                           "2026-11-30t15:34:05Z",
                           "2026-11-30 15:34:05Z",
                           "2026-11-30T15:34:05+00:00",
                           "2026-11-30T15:34:05-00:00",
                           "2026-11-30T15:34Z",
                           "2026-11-30T15:34:05.Z",
                           "2026-11-30T15:34:05.1234567Z",
                           "2026-11-30T15:34:05,5Z",
                           "2026-11-30T15:34:05.5 Z",
                           " 2026-11-30T15:34:05Z",
                           "2026-11-30T15:34:05Z ",
                           "2026-11-30T15:34:05ZZ",
                           "26-11-30T15:34:05Z",
                           "02026-11-30T15:34:05Z",
                           "2026-1-30T15:34:05Z",
                           "2026-13-01T00:00:00Z",
                           "2026-00-01T00:00:00Z",
                           "2026-01-00T00:00:00Z",
                           "2026-01-32T00:00:00Z",
                           "2026-04-31T00:00:00Z",
                           "2026-02-29T00:00:00Z",
                           "1900-02-29T00:00:00Z",
                           "2100-02-29T00:00:00Z",
                           "1969-12-31T23:59:59Z",
                           "2026-11-30T24:00:00Z",
                           "2026-11-30T23:60:00Z",
                           "2026-11-30T23:59:60Z",
                           "2016-12-31T23:59:60Z",
                           "-026-11-30T15:34:05Z",
                           "+026-11-30T15:34:05Z",
                           "2026-11-30T15:34:0xZ",
                           "2026-11-30T15:34:-5Z",
                           "2026-11-30T15:34:05.-1Z",
                           "２026-11-30T15:34:05Z"}) {
    INFO(text);
    CHECK(!parse_rfc3339(text));
  }
  CHECK(!parse_rfc3339(std::string("2026-11-30T15:34:05\0Z", 21)));
}

TEST_CASE("clock: the boot clock does not run backwards and the wall clock is of this age") {
  const SystemClock clock;
  const BootTime first = clock.boot();
  CHECK(clock.boot() >= first);
  CHECK(first.time_since_epoch() > Micros{0});
  CHECK(to_us(clock.wall()) > 1'700'000'000'000'000);
}

TEST_CASE("clock: a fake clock moves when told, and a wall step leaves boot time alone") {
  FakeClock clock;
  const WallTime wall = clock.wall();
  const BootTime boot = clock.boot();
  clock.advance(Micros{5});
  CHECK(clock.wall() == wall + Micros{5});
  CHECK(clock.boot() == boot + Micros{5});
  clock.step_wall(-std::chrono::hours{1});
  CHECK(clock.wall() == wall + Micros{5} - std::chrono::hours{1});
  CHECK(clock.boot() == boot + Micros{5});
}

}  // namespace
}  // namespace intray::base
