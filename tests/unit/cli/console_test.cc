#include "cli/console.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/json_line.h"
#include "cli/progress.h"
#include "test_console.h"

using namespace intray;
using namespace intray::cli;
using namespace std::chrono_literals;

TEST_CASE("complain: every line has the prefix; raw bytes are escaped once") {
  TestConsole test;
  complain(test.console, base::Error{.what = "first\nsecond \x1b[31m and \\x9b"});
  CHECK(test.err.str() == "intray: first\nintray: second \\x1b[31m and \\x9b\n");
}

TEST_CASE("time: UTC in RFC 3339 with --utc") {
  TestConsole test;
  CHECK(test.console.time(base::from_us(1'796'044'522'999'999)) == "2026-11-30T13:15:22Z");
}

TEST_CASE("paint: no codes without colour, none for empty text") {
  TestConsole test;
  CHECK(test.console.paint(Colour::kRed, "x") == "x");
  test.console.colour = true;
  CHECK(test.console.paint(Colour::kRed, "x") == "\x1b[1;31mx\x1b[0m");
  CHECK(test.console.paint(Colour::kRed, "").empty());
  CHECK(test.console.paint(Colour::kNone, "x") == "x");
}

TEST_CASE("print_json: ASCII on one line, exact under escapes") {
  TestConsole test;
  print_json(test.console, {{"name", "a\x1b[31m\u202e\n"}});
  CHECK(test.out.str() == "{\"name\":\"a\\u001b[31m\\u202e\\n\"}\n");
}

TEST_CASE("set_bytes: what is no UTF-8 comes as octets, and nothing throws") {
  nlohmann::json object;
  set_bytes(object, "name", "\xff\x01");
  CHECK(object["name"].is_null());
  CHECK(object["name_hex"] == "ff01");
  set_bytes(object, "other", "ü");
  CHECK(object["other"] == "ü");
  CHECK_FALSE(object.contains("other_hex"));
}

TEST_CASE("progress_text: done, total, rate, time left") {
  CHECK(progress_text("handed over", 1'200, 4'000, 4s) == "1,200 of 4,000 handed over, 300/s, 10s left");
  CHECK(progress_text("handed over", 1'200, 0, 4s) == "1,200 handed over, 300/s");
  CHECK(progress_text("ended", 3, 3, 2s) == "3 of 3 ended, 1.5/s");
  CHECK(progress_text("ended", 0, 3, 2s) == "0 of 3 ended");
}

TEST_CASE("Progress: only on a terminal, erased before it is gone") {
  TestConsole silent;
  {
    Progress progress(silent.console, "ended", 10);
    silent.clock.advance(2s);
    progress.update(5);
  }
  CHECK(silent.err.str().empty());
  TestConsole test;
  test.console.err_is_terminal = true;
  {
    Progress progress(test.console, "ended", 10);
    progress.update(1);
    CHECK(test.err.str().empty());  // what is over at once needs no line
    test.clock.advance(2s);
    progress.update(5);
    CHECK(test.err.str().find("5 of 10 ended, 2.5/s") != std::string::npos);
  }
  CHECK(test.err.str().ends_with("\r\x1b[K"));
}
