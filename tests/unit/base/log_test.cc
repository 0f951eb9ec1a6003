#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"

namespace intray::base {
namespace {

// What the lines written inside `body` look like on the real standard error.
std::string captured(const std::function<void()>& body) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  REQUIRE(file);
  std::fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  REQUIRE(saved >= 0);
  REQUIRE(dup2(fileno(file.get()), STDERR_FILENO) == STDERR_FILENO);
  body();
  std::fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  std::string text(65536, '\0');
  std::rewind(file.get());
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

// Each test sets the process's one sink as it needs it and leaves the default behind.
struct Sink {
  explicit Sink(const LogOptions& options, bool journald = false) {
    if (journald)
      setenv("JOURNAL_STREAM", "8:1", 1);
    else
      unsetenv("JOURNAL_STREAM");
    init_log(options);
  }
  ~Sink() {
    unsetenv("JOURNAL_STREAM");
    init_log({});
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
};

// The text without its time, which must be one.
std::string without_time(const std::string& line) {
  const auto blank = line.find(' ');
  REQUIRE(blank != std::string::npos);
  CHECK(parse_rfc3339(line.substr(0, blank)));
  return line.substr(blank + 1);
}

TEST_CASE("log: a text line is time, level, event and fields") {
  const Sink sink({});
  const std::string line = captured([] {
    log(LogLevel::kInfo, "job_claimed", {{"job", "0b0e"}, {"attempt", 3}, {"bytes", std::size_t{12}}, {"note", ""}});
  });
  CHECK(without_time(line) == "info job_claimed job=0b0e attempt=3 bytes=12 note=\"\"\n");
  CHECK(without_time(captured([] { log(LogLevel::kError, "x"); })) == "error x\n");
  CHECK(without_time(captured([] { log(LogLevel::kWarn, "x"); })) == "warning x\n");
}

TEST_CASE("log: hostile values stay on one line and in their field") {
  const Sink sink({});
  const std::string line = captured([] {
    log(LogLevel::kInfo, "bad_file",
        {{"name", "a b\" level=x\nforged"},
         {"esc", "\x1b[2J"},
         {"bidi", "\u202e"},
         {"raw", "\xff"},
         {"slash", "a\\b"}});
  });
  CHECK(without_time(line) ==
        "info bad_file name=\"a b\\\" level=x\\x0aforged\" esc=\\x1b[2J bidi=\\xe2\\x80\\xae raw=\\xff slash=a\\\\b\n");
}

TEST_CASE("log: under journald a line starts with its level's number and no time") {
  const Sink sink({LogLevel::kDebug, false}, true);
  CHECK(captured([] { log(LogLevel::kDebug, "x", {{"k", "v"}}); }) == "<7>x k=v\n");
  CHECK(captured([] { log(LogLevel::kInfo, "x"); }) == "<6>x\n");
  CHECK(captured([] { log(LogLevel::kWarn, "x"); }) == "<4>x\n");
  CHECK(captured([] { log(LogLevel::kError, "x"); }) == "<3>x\n");
}

TEST_CASE("log: JSON lines hold the same keys, numbers as numbers, and plain ASCII") {
  const Sink sink({LogLevel::kInfo, true});
  const std::string line = captured([] {
    log(LogLevel::kWarn, "bad_file", {{"name", "ü\n\u202e\xff"}, {"count", -7}, {"job", std::string("0b")}});
  });
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
  CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
  const auto json = nlohmann::json::parse(line);
  CHECK(json["event"] == "bad_file");
  CHECK(json["level"] == "warning");
  CHECK(json["count"] == -7);
  CHECK(json["job"] == "0b");
  CHECK(json["name"] == "ü\n\u202e\ufffd");
  CHECK(parse_rfc3339(json["at"].get<std::string>()));
  CHECK(json.size() == 6);
}

TEST_CASE("log: what is below the level is not written") {
  {
    const Sink sink({LogLevel::kWarn, false});
    CHECK(captured([] { log(LogLevel::kInfo, "x"), log(LogLevel::kDebug, "x"); }).empty());
    CHECK(!captured([] { log(LogLevel::kWarn, "x"); }).empty());
  }
  CHECK(captured([] { log(LogLevel::kDebug, "x"); }).empty());
}

}  // namespace
}  // namespace intray::base
