#include "model/canonical.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "limits.h"
#include "model/canonical_writer.h"

namespace intray::model {
namespace {

using std::string_literals::operator""s;

std::string verdict(const std::expected<nlohmann::json, CanonicalError>& parsed) {
  return parsed ? "ok" : std::string(to_word(parsed.error().reason));
}

TEST_CASE("canonical: what is canonical is accepted and written back byte for byte") {
  const std::vector<std::string> texts = {"{}",
                                          "[]",
                                          "null",
                                          "true",
                                          "false",
                                          "0",
                                          "-1",
                                          "9007199254740991",
                                          "-9007199254740991",
                                          R"("")",
                                          R"("\u001f")",
                                          R"("\b\t\n\f\r\"\\")",
                                          "\"/\x7f\"",
                                          "\"ü€😀\"",
                                          R"({"a":1,"b":[true,null,"x"],"c":{"d":[]}})",
                                          R"({"":0})",
                                          R"({"a":{"b":{"c":{}}}})",
                                          R"([[[[]]]])",
                                          "\"\u2028\ufeff\"",
                                          R"({"A":1,"a":2,"aa":3,"ab":4})"};
  for (const std::string& text : texts) {
    INFO(text);
    const auto parsed = parse_canonical(text);
    REQUIRE(verdict(parsed) == "ok");
    CHECK(to_canonical(*parsed) == text);
  }
}

TEST_CASE("canonical: what a strict parser refuses is MALFORMED_JSON") {
  const std::vector<std::string> texts = {"",
                                          " ",
                                          "{",
                                          "}",
                                          "[1,]",
                                          "{\"a\":1,}",
                                          "{a:1}",
                                          "{'a':1}",
                                          "nul",
                                          "NaN",
                                          "Infinity",
                                          "01",
                                          "+1",
                                          "1.",
                                          ".5",
                                          "0x1",
                                          "--1",
                                          "1e",
                                          "\"a",
                                          "\"\t\"",
                                          "\"\n\"",
                                          "\"\x01\"",
                                          R"("\x41")",
                                          R"("\u12")",
                                          R"("\u12g4")",
                                          R"("\ud800")",
                                          R"("\udc00")",
                                          R"("\ud800\u0041")",
                                          R"("\ud800\ud800")",
                                          "\"\xff\"",
                                          "\"\xc0\x80\"",
                                          "\"\xed\xa0\x80\"",
                                          "\"\xf4\x90\x80\x80\"",
                                          "\"\xe2\x82\"",
                                          "\xff",
                                          "\xef\xbb\xbf{}",
                                          "{}\0"s,
                                          "{}\0garbage"s,
                                          "\"a\0b\""s,
                                          R"("\u0000")",
                                          R"({"a\u0000b":1})",
                                          "{}{}",
                                          "{} x",
                                          "{}]",
                                          "1 2",
                                          "/* c */{}",
                                          "{}// c",
                                          "[[[[[]]]]]",
                                          R"({"a":{"b":{"c":{"d":{}}}}})",
                                          R"({"a":1.0)",
                                          R"({"a":1,"a":2)"};
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(verdict(parse_canonical(text)) == "MALFORMED_JSON");
    CHECK(verdict(parse_strict(text)) == "MALFORMED_JSON");
  }
}

TEST_CASE("canonical: values outside the contract are NOT_CANONICAL for the strict parser too") {
  const std::vector<std::string> texts = {"1.0",
                                          "1e0",
                                          "1E2",
                                          "-0",
                                          "-0.0",
                                          "0.5",
                                          "1e999",
                                          "9007199254740992",
                                          "-9007199254740992",
                                          "12345678901234567890",
                                          "99999999999999999999",
                                          "-99999999999999999999",
                                          R"({"a":1,"a":1})",
                                          R"({"x":{"a":1,"b":2,"a":3}})",
                                          R"([{"a":1,"a":2}])",
                                          R"({"a":1,"\u0061":2})"};
  for (const std::string& text : texts) {
    INFO(text);
    CHECK(verdict(parse_canonical(text)) == "NOT_CANONICAL");
    CHECK(verdict(parse_strict(text)) == "NOT_CANONICAL");
  }
}

TEST_CASE("canonical: another spelling of the same value is refused with its rule and place") {
  struct Case {
    std::string text, detail;
  };
  const std::vector<Case> cases = {{R"({ "a":1})", "white space at byte 1"},
                                   {"{\"a\":1}\n", "white space at byte 7"},
                                   {" {}", "white space at byte 0"},
                                   {"{\"a\":\t1}", "white space at byte 5"},
                                   {R"({"b":1,"a":2})", "members not sorted at byte 2"},
                                   {R"({"ab":1,"a":2})", "members not sorted at byte 3"},
                                   {R"({"a":1,"c":2,"b":3})", "members not sorted at byte 8"},
                                   {R"({"a":1,"a\"":2,"a!":3})", "members not sorted at byte 9"},
                                   {R"({"a":"\u0062"})", "escape not shortest at byte 6"},
                                   {R"({"a":"\/"})", "escape not shortest at byte 6"},
                                   {R"({"a":"\u001F"})", "escape not shortest at byte 11"},
                                   {R"({"a":"\u0008"})", "escape not shortest at byte 7"},
                                   {R"({"a":"\u00fc"})", "escape not shortest at byte 6"},
                                   {R"({"a":"\ud83d\ude00"})", "escape not shortest at byte 6"},
                                   {R"({"\u0061":1})", "escape not shortest at byte 2"},
                                   {R"(["\\","\u005c"])", "escape not shortest at byte 8"}};
  for (const Case& c : cases) {
    INFO(c.text);
    const auto parsed = parse_canonical(c.text);
    REQUIRE(verdict(parsed) == "NOT_CANONICAL");
    CHECK(parsed.error().detail == c.detail);
    const auto strict = parse_strict(c.text);
    REQUIRE(verdict(strict) == "ok");
    CHECK(verdict(parse_canonical(to_canonical(*strict))) == "ok");
  }
}

TEST_CASE("canonical: messages name the place and never carry raw control characters") {
  CHECK(parse_canonical("{\"a\" 1}").error().detail.starts_with("not JSON at byte 5: "));
  CHECK(parse_canonical("{\"a\":1").error().detail.starts_with("not JSON at byte 6: "));
  CHECK(parse_canonical("{\"a\":\"\x1b[31m\"}").error().detail.find('\x1b') == std::string::npos);
  CHECK(parse_canonical("{\"\xe2\x80\xae\":1.5,\"\xe2\x80\xae\":1}").error().detail.find("\xe2\x80\xae") ==
        std::string::npos);
  CHECK(parse_canonical(R"({"a":1,"a":2})").error().detail == "duplicate member 'a'");
  CHECK(parse_canonical("[[[[[]]]]]").error().detail == "nested deeper than 4");
  CHECK(parse_canonical("\"" + std::string(9000, '\\') + "\x01").error().detail.size() < 300);
}

TEST_CASE("canonical: depth costs neither stack nor time") {
  for (const std::size_t depth : {5U, 1000U, 1'000'000U}) {
    CHECK(verdict(parse_canonical(std::string(depth, '['))) == "MALFORMED_JSON");
    CHECK(verdict(parse_canonical(std::string(depth, '[') + std::string(depth, ']'))) == "MALFORMED_JSON");
  }
}

TEST_CASE("canonical: no 16 KiB cost much more than a good 16 KiB") {
  constexpr std::size_t kBytes = limits::kJobFileBytesMax;
  const auto repeated = [](std::string_view part, std::size_t bytes) {
    std::string text;
    while (text.size() + part.size() <= bytes) text += part;
    return text;
  };
  const auto members = [](std::size_t bytes, bool same_name, bool backwards) {
    std::string text = "{";
    for (int i = 0; text.size() + 16 < bytes; ++i) {
      const int number = same_name ? 10'000 : backwards ? 99'999 - i : 10'000 + i;
      text += (text.size() > 1 ? ",\"" : "\"") + std::to_string(number) + "\":1";
    }
    return text + "}";
  };
  // Of the process's own time, and the least of several runs: what else the machine does only adds to it.
  const auto cost_us = [](const std::string& bytes) {
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 15; ++i) {
      const std::clock_t begun = std::clock();
      static_cast<void>(parse_canonical(bytes));
      least = std::min(least, std::clock() - begun);
    }
    return least * 1'000'000 / CLOCKS_PER_SEC;
  };
  const std::string good = members(kBytes, false, false);
  REQUIRE(verdict(parse_canonical(good)) == "ok");
  const auto good_us = cost_us(good);

  const std::vector<std::pair<const char*, std::string>> hostile = {
      {"[", repeated("[", kBytes)},
      {"[ and ]", repeated("[", kBytes / 2) + repeated("]", kBytes / 2)},
      {"{\"a\":", repeated("{\"a\":", kBytes)},
      {"10,000 deep", std::string(10'000, '[')},
      {"wide lists", "[" + repeated("[],", kBytes - 4) + "[]]"},
      {"escapes", "\"" + repeated("\\n", kBytes - 2) + "\""},
      {"long escapes", "\"" + repeated("\\u0001", kBytes - 2) + "\""},
      {"pairs", "\"" + repeated("\\ud83d\\ude00", kBytes - 2) + "\""},
      {"an open string of back-slashes", "\"" + repeated("\\\\", kBytes - 1)},
      {"four-octet characters", "\"" + repeated("\xf0\x9f\x98\x80", kBytes - 2) + "\""},
      {"invalid at the end", "\"" + repeated("a", kBytes - 2) + "\xff"},
      {"one long name", "{\"" + repeated("a", kBytes - 6) + "\":1}"},
      {"one member a thousand times", members(kBytes, true, false)},
      {"a thousand members in the wrong order", members(kBytes, false, true)},
      {"the last one a duplicate", members(kBytes - 16, false, false).insert(1, "\"10500\":1,")},
      {"blanks", repeated(" ", kBytes)},
      {"digits", repeated("9", kBytes)},
      {"zeros", "0." + repeated("0", kBytes - 2)},
      {"commas", "[" + repeated(",", kBytes - 1)},
      {"NUL", std::string(kBytes, '\0')},
  };
  for (const auto& [what, bytes] : hostile) {
    INFO(what << ", " << bytes.size() << " bytes");
    CHECK(bytes.size() <= kBytes);
    // Five thousand empty lists cost three times as much. What grew with the square would cost hundreds of times.
    CHECK(cost_us(bytes) <= 12 * good_us + 1'000);
  }
}

// The example of RFC 8785, section 3.2.3.
TEST_CASE("canonical: members sort by UTF-16 code units") {
  const auto parsed =
      parse_strict(R"({"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
    "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"})");
  REQUIRE(parsed);
  const std::string canonical = to_canonical(*parsed);
  CHECK(
      canonical ==
      "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\","
      "\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}");
  CHECK(verdict(parse_canonical(canonical)) == "ok");
  const auto by_code_point = parse_canonical("{\"\ufb33\":1,\"😀\":2}");
  REQUIRE(!by_code_point);
  CHECK(by_code_point.error().detail.starts_with("members not sorted at byte"));
  CHECK(verdict(parse_canonical("{\"a\ue000\":1,\"a\uffff\":2}")) == "ok");
  CHECK(verdict(parse_canonical("{\"a\U00010000\":1,\"a\ue000\":2,\"a\uffff\":3}")) == "ok");
  CHECK(verdict(parse_canonical("{\"a\ud7ff\":1,\"a\U0010ffff\":2}")) == "ok");
}

TEST_CASE("canonical: every character below 0x80 has the escape of RFC 8785 and no other") {
  for (int c = 1; c < 0x80; ++c) {
    std::string out;
    append_canonical_string(out, std::string(1, static_cast<char>(c)));
    std::string body;
    switch (c) {
      case '\b': body = "\\b"; break;
      case '\t': body = "\\t"; break;
      case '\n': body = "\\n"; break;
      case '\f': body = "\\f"; break;
      case '\r': body = "\\r"; break;
      case '"': body = "\\\""; break;
      case '\\': body = "\\\\"; break;
      default:
        if (c < 0x20) {
          constexpr std::string_view kHex = "0123456789abcdef";
          body = "\\u00"s + kHex[static_cast<std::size_t>(c) / 16] + kHex[static_cast<std::size_t>(c) % 16];
        } else {
          body = std::string(1, static_cast<char>(c));
        }
    }
    INFO(c);
    CHECK(out == "\"" + body + "\"");
    CHECK(verdict(parse_canonical(out)) == "ok");
  }
}

TEST_CASE("canonical writer: writes what the general writer writes") {
  const std::string line = CanonicalWriter(64)
                               .text("a", "x\n\"ü")
                               .number("b", -7)
                               .null("c")
                               .raw("d", "{}")
                               .hash("e", base::sha256(""))
                               .finish();
  const auto parsed = parse_canonical(line);
  REQUIRE(verdict(parsed) == "ok");
  CHECK((*parsed)["a"] == "x\n\"ü");
  CHECK((*parsed)["b"] == -7);
  CHECK((*parsed)["e"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(CanonicalWriter(2).finish() == "{}");
}

}  // namespace
}  // namespace intray::model
