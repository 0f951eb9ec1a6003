#include "config/units.h"

#include <catch2/catch.hpp>

using namespace intray::config;
using namespace std::chrono_literals;
using intray::base::Micros;

TEST_CASE("parse_duration: every unit") {
  CHECK(parse_duration("7us") == Micros{7});
  CHECK(parse_duration("500ms") == Micros{500ms});
  CHECK(parse_duration("15s") == Micros{15s});
  CHECK(parse_duration("10m") == Micros{10min});
  CHECK(parse_duration("24h") == Micros{24h});
  CHECK(parse_duration("7d") == Micros{24h * 7});
  CHECK(parse_duration("0s") == Micros{0});
}

TEST_CASE("parse_duration: everything else is refused") {
  for (const char* text : {"", "5", "s", "-5s", "+5s", "1.5s", " 5s", "5 s", "5s ", "5S", "5sec", "5min", "1h30m",
                           "0x5s", "99999999999999999999s", "36526d", "９s"})
    CHECK_FALSE(parse_duration(text));
}

TEST_CASE("format_duration: the form people write, and it parses back") {
  CHECK(format_duration(0s) == "0");
  CHECK(format_duration(24h) == "24h");
  CHECK(format_duration(36h) == "36h");
  CHECK(format_duration(24h * 7) == "7d");
  CHECK(format_duration(60s) == "60s");
  CHECK(format_duration(5min) == "5m");
  CHECK(format_duration(1h) == "1h");
  CHECK(format_duration(1s) == "1s");
  CHECK(format_duration(1500ms) == "1500ms");
  for (const Micros value : {Micros{1}, Micros{90s}, Micros{3h}, Micros{61min}, Micros{24h * 365}, Micros{1234567}})
    CHECK(parse_duration(format_duration(value)) == value);
}

TEST_CASE("parse_size: bytes and binary units") {
  CHECK(parse_size("17") == 17);
  CHECK(parse_size("17B") == 17);
  CHECK(parse_size("64KiB") == 65'536);
  CHECK(parse_size("4MiB") == 4'194'304);
  CHECK(parse_size("2GiB") == 2'147'483'648);
}

TEST_CASE("parse_size: everything else is refused") {
  for (const char* text : {"", "KiB", "-1", "1.5MiB", "4MB", "4M", "4 MiB", "4mib", "9007199254740993", "99999999GiB"})
    CHECK_FALSE(parse_size(text));
}

TEST_CASE("format_size: parses back") {
  CHECK(format_size(4'194'304) == "4MiB");
  CHECK(format_size(1024) == "1KiB");
  CHECK(format_size(1000) == "1000B");
  for (const std::int64_t value : {1LL, 1023LL, 65'536LL, 1LL << 30}) CHECK(parse_size(format_size(value)) == value);
}
