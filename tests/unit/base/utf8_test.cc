#include "base/utf8.h"

#include <catch2/catch.hpp>
#include <string>

namespace intray::base {
namespace {

TEST_CASE("utf8: valid forms of each length, NUL among them") {
  for (const std::string text : {"", "a", "\x7f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\ufffe",
                                 "\U00010000", "\U0010ffff", "aü€😀z"}) {
    CHECK(is_utf8(text));
    CHECK(code_points(text).has_value());
  }
  CHECK(is_utf8(std::string("a\0b", 3)));
  const auto points = code_points("aü€😀");
  REQUIRE(points);
  CHECK(*points == std::vector<char32_t>{U'a', U'ü', U'€', U'😀'});
  CHECK(code_points("")->empty());
}

TEST_CASE("utf8: overlong forms, surrogates, what is above U+10FFFF, and torn sequences are refused") {
  for (const std::string text : {"\x80",
                                 "\xbf",
                                 "\xc0\x80",
                                 "\xc0\xaf",
                                 "\xc1\xbf",
                                 "\xe0\x80\xaf",
                                 "\xe0\x9f\xbf",
                                 "\xf0\x80\x80\xaf",
                                 "\xf0\x8f\xbf\xbf",
                                 "\xed\xa0\x80",
                                 "\xed\xbf\xbf",
                                 "\xf4\x90\x80\x80",
                                 "\xf5\x80\x80\x80",
                                 "\xf8\x88\x80\x80\x80",
                                 "\xfc\x84\x80\x80\x80\x80",
                                 "\xfe",
                                 "\xff",
                                 "\xc3",
                                 "\xe2\x82",
                                 "\xf0\x9f\x98",
                                 "\xc3\x28",
                                 "\xe2\x28\xa1",
                                 "\xe2\x82\x28",
                                 "\xf0\x28\x8c\xbc",
                                 "a\xff",
                                 "ü\xc3",
                                 "\xc3\xbc\xbc"}) {
    INFO(text.size() << " octets");
    CHECK(!is_utf8(text));
    CHECK(!code_points(text));
    CHECK(!nfc(text));
    CHECK(!nfkc(text));
    CHECK(!case_fold(text));
  }
}

TEST_CASE("utf8: every code point is valid but the surrogates") {
  for (std::uint32_t c = 0x80; c <= 0x110000; ++c) {
    std::string text;
    const auto put = [&](std::uint32_t octet) { text.push_back(static_cast<char>(static_cast<unsigned char>(octet))); };
    if (c < 0x800) {
      put(0xC0 | (c >> 6U));
    } else if (c < 0x10000) {
      put(0xE0 | (c >> 12U));
      put(0x80 | ((c >> 6U) & 0x3FU));
    } else {
      put(0xF0 | (c >> 18U));
      put(0x80 | ((c >> 12U) & 0x3FU));
      put(0x80 | ((c >> 6U) & 0x3FU));
    }
    put(0x80 | (c & 0x3FU));
    const bool expected = (c < 0xD800 || c > 0xDFFF) && c <= 0x10FFFF;
    if (is_utf8(text) != expected) FAIL("code point " << c);
  }
  SUCCEED();
}

TEST_CASE("utf8: general categories have two letters") {
  CHECK(category(U'A') == "Lu");
  CHECK(category(U'a') == "Ll");
  CHECK(category(U'日') == "Lo");
  CHECK(category(U'1') == "Nd");
  CHECK(category(U'½') == "No");
  CHECK(category(U' ') == "Zs");
  CHECK(category(U'-') == "Pd");
  CHECK(category(U'$') == "Sc");
  CHECK(category(U'😀') == "So");
  CHECK(category(U'\u0301') == "Mn");
  CHECK(category(U'\u202e') == "Cf");
  CHECK(category(U'\u0378') == "Cn");
  CHECK(category(U'\ue000') == "Co");
  CHECK(category(U'\u2028') == "Zl");
  CHECK(category(U'\u2029') == "Zp");
  CHECK(category(U'\0') == "Cc");
  CHECK(category(static_cast<char32_t>(0xD800)) == "Cs");
  CHECK(category(static_cast<char32_t>(0x110000)) == "Cn");
}

TEST_CASE("utf8: normal forms and case folding") {
  CHECK(nfc("U\u0308bung") == "Übung");
  CHECK(nfc("Übung") == "Übung");
  CHECK(nfc("\u212b") == "Å");
  CHECK(nfc("ascii ~") == "ascii ~");
  CHECK(nfc("") == "");
  CHECK(nfc(std::string("ü\0x", 4)) == std::string("ü\0x", 4));
  CHECK(nfkc("ﬁ½") == "fi1\u20442");
  CHECK(nfkc("．．") == "..");
  CHECK(nfkc("\u2100") == "a/c");
  CHECK(case_fold("ÄÖÜ") == "äöü");
  CHECK(case_fold("ASCII.MD") == "ascii.md");
  CHECK(case_fold("Straße") == case_fold("STRASSE"));
  CHECK(case_fold("ΣΑΣ") == case_fold("σας"));
  CHECK(case_fold("U\u0308") == case_fold("ü"));
  // Canonically the same text: the marks in either order, and composed.
  CHECK(case_fold("\u03b1\u0345\u0301") == case_fold("\u03b1\u0301\u0345"));
  CHECK(case_fold("\u03b1\u0345\u0301") == case_fold("\u1fb4"));
}

TEST_CASE("utf8: normal forms are stable, and a long hostile text stays linear") {
  std::string marks = "a";
  for (int i = 0; i < 20'000; ++i) marks += i % 2 == 0 ? "\u0301" : "\u0323";
  const auto once = nfc(marks);
  REQUIRE(once);
  CHECK(nfc(*once) == once);
  CHECK(once->size() <= 3 * marks.size());
}

}  // namespace
}  // namespace intray::base
