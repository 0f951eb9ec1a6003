#include "base/escape.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace intray::base {
namespace {

TEST_CASE("escape: printable text of any language passes") {
  for (const char* text : {"", "plain text, 1 + 1 = 2", "Übung – “x”", "日本語", "😀", "½ $ € |`'\"", "e\u0301"}) {
    CHECK(escape(text) == text);
  }
}

TEST_CASE("escape: what can move the cursor, hide or reorder text becomes hex, octet by octet") {
  const std::vector<std::pair<std::string, std::string>> cases = {{"\x1b[31m", "\\x1b[31m"},
                                                                  {"a\nb\tc\r", "a\\x0ab\\x09c\\x0d"},
                                                                  {std::string("\0", 1), "\\x00"},
                                                                  {"\x7f", "\\x7f"},
                                                                  {"\u0085", "\\xc2\\x85"},
                                                                  {"\u009b31m", "\\xc2\\x9b31m"},
                                                                  {"\u202e", "\\xe2\\x80\\xae"},
                                                                  {"\u2066", "\\xe2\\x81\\xa6"},
                                                                  {"\u200b", "\\xe2\\x80\\x8b"},
                                                                  {"\u200d", "\\xe2\\x80\\x8d"},
                                                                  {"\ufeff", "\\xef\\xbb\\xbf"},
                                                                  {"\u2028\u2029", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9"},
                                                                  {"\ue000", "\\xee\\x80\\x80"},
                                                                  {"\u0378", "\\xcd\\xb8"},
                                                                  {"\U000e0041", "\\xf3\\xa0\\x81\\x81"},
                                                                  {"\xff\xfe", "\\xff\\xfe"},
                                                                  {"\xc3", "\\xc3"},
                                                                  {"\xc3\x28", "\\xc3("},
                                                                  {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
                                                                  {"\xe2\x82", "\\xe2\\x82"}};
  for (const auto& [raw, escaped] : cases) {
    INFO(escaped);
    CHECK(escape(raw) == escaped);
  }
}

TEST_CASE("escape: a backslash is doubled, so that no text looks like an escape it is not") {
  CHECK(escape("\\x1b") == "\\\\x1b");
  CHECK(escape("\\") == "\\\\");
  CHECK(escape("\\\\") == "\\\\\\\\");
}

TEST_CASE("escape: any two octets give valid UTF-8 on one line, and no two texts give the same") {
  std::vector<std::string> seen;
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string escaped = escape(std::string{static_cast<char>(a), static_cast<char>(b)});
      REQUIRE(is_utf8(escaped));
      REQUIRE(escaped.find_first_of(std::string_view("\n\r\t\0\x1b\x7f", 6)) == std::string::npos);
      seen.push_back(escaped);
    }
  std::sort(seen.begin(), seen.end());
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

}  // namespace
}  // namespace intray::base
