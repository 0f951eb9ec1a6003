#include "cli/text.h"

#include <catch2/catch.hpp>

using namespace intray::cli;
using namespace std::chrono_literals;

TEST_CASE("count: the plural fits the number") {
  CHECK(count(0, "job") == "0 jobs");
  CHECK(count(1, "job") == "1 job");
  CHECK(count(2, "job") == "2 jobs");
  CHECK(count(1'234'567, "job") == "1,234,567 jobs");
}

TEST_CASE("with_commas: groups of three, sign aside") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1'000) == "1,000");
  CHECK(with_commas(100'000) == "100,000");
  CHECK(with_commas(-123) == "-123");
  CHECK(with_commas(-123'456) == "-123,456");
}

TEST_CASE("age: one unit, the largest that says enough") {
  CHECK(age(999ms) == "now");
  CHECK(age(1s) == "1s");
  CHECK(age(119s) == "119s");
  CHECK(age(120s) == "2m");
  CHECK(age(119min) == "119m");
  CHECK(age(2h) == "2h");
  CHECK(age(47h) == "47h");
  CHECK(age(48h) == "2d");
  CHECK(age(-5s) == "-5s");
  CHECK(age(-999ms) == "now");
  CHECK(ago(999ms) == "now");
  CHECK(ago(5s) == "5s ago");
  CHECK(ago(-3min) == "in 3m");
}

TEST_CASE("width: what a terminal shows") {
  CHECK(width("") == 0);
  CHECK(width("abc") == 3);
  CHECK(width("Zürich…") == 7);
  CHECK(width("u\u0308") == 1);
  CHECK(width("日本") == 4);
  CHECK(width("✅") == 2);
}

TEST_CASE("cut_end and cut_start: never wider than asked, never half a character") {
  CHECK(cut_end("abc", 3) == "abc");
  CHECK(cut_end("abcd", 3) == "ab…");
  CHECK(cut_start("abcd", 3) == "…cd");
  CHECK(cut_end("日本語", 4) == "日…");
  CHECK(cut_start("日本語", 4) == "…語");
  CHECK(cut_start("/app/vault/notes/ü.md", 8) == "…es/ü.md");
  for (int columns = 1; columns < 12; ++columns) {
    CHECK(width(cut_end("日本ü-abcdé", columns)) <= columns);
    CHECK(width(cut_start("日本ü-abcdé", columns)) <= columns);
  }
}

TEST_CASE("lower and upper: ASCII letters only") {
  CHECK(lower("Ready-Ä1") == "ready-Ä1");
  CHECK(upper("ready_ä") == "READY_ä");
}
