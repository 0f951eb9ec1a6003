#include "model/vault_path.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace intray::model {
namespace {

const std::string kRoot = "/app/vault";
const std::vector<std::string> kExtensions = {".md"};

std::string rule(const std::string& path) { return unsafe_path_rule(path, kRoot, kExtensions).value_or("safe"); }
std::string below(const std::string& path) { return rule(kRoot + "/" + path); }
std::string repeat(const std::string& text, std::size_t times) {
  std::string out;
  while (times-- > 0) out += text;
  return out;
}

TEST_CASE("vault path: real note titles pass") {
  const std::vector<std::string> paths = {"a.md",
                                          "Ordner/Übung – Größe.md",
                                          "“Quoted” ‘title’ „deutsch“ «fr».md",
                                          "wait….md",
                                          "cost $5 & more.md",
                                          "½ cup.md",
                                          "😀 party.md",
                                          "❤\ufe0f.md",
                                          "日本語/ノート.md",
                                          "Ελληνικά.md",
                                          "кириллица.md",
                                          "עברית.md",
                                          "हिन्दी.md",
                                          "100 %.md",
                                          "50%off.md",
                                          "5%2.md",
                                          "%.md",
                                          "a%g0.md",
                                          "a..b.md",
                                          "a.b/c.md",
                                          "trailing dot inside. ok/x.md",
                                          " leading blank.md",
                                          "(a) [b] {c} #d @e !f ~g ^h +i =j ,k ;l 'm.md",
                                          "x/y/z/w/v.md",
                                          "_x.md",
                                          "a-b.md",
                                          "²³ №5 Ⅷ.md",
                                          "fi ﬁ.md",
                                          "A.md"};
  for (const std::string& path : paths) {
    INFO(path);
    CHECK(below(path) == "safe");
  }
}

TEST_CASE("vault path: it begins with the root and a slash, and names something below it") {
  CHECK(rule("") == "the path does not begin with '/app/vault/'");
  for (const char* path : {"/app/vault", "/app/vaultx/a.md", "/app/Vault/a.md", "app/vault/a.md", "//app/vault/a.md",
                           "/app//vault/a.md", "/app/vault.md", "/etc/a.md", "a.md", "/app/./vault/a.md", "/a.md"}) {
    INFO(path);
    CHECK(rule(path) == "the path does not begin with '/app/vault/'");
  }
  CHECK(rule("/app/vault/") == "the path names nothing below the vault root");
  CHECK(unsafe_path_rule("/a.md", "", kExtensions) == std::nullopt);  // a site whose vault root is "/"
  CHECK(unsafe_path_rule("/v/a.md", "/v", kExtensions) == std::nullopt);
}

TEST_CASE("vault path: lengths are bytes, 1024 in all and 255 a segment") {
  CHECK(below(std::string(252, 'a') + ".md") == "safe");
  CHECK(below(std::string(253, 'a') + ".md") == "segment 1 has 256 bytes, more than 255");
  CHECK(below("x/" + repeat("ü", 126) + ".md") == "safe");
  CHECK(below("x/" + repeat("ü", 127) + ".md") == "segment 2 has 257 bytes, more than 255");
  const std::string deep = repeat(std::string(99, 'd') + "/", 10);  // 1000 bytes
  CHECK(below(deep + std::string(1024 - 11 - 1000 - 3, 'x') + ".md") == "safe");
  CHECK(below(deep + std::string(1024 - 11 - 1000 - 2, 'x') + ".md") == "the path has 1025 bytes, more than 1024");
}

TEST_CASE("vault path: no segment is a dot or empty, starts with a dot or hyphen, or ends in a dot or blank") {
  const std::vector<std::pair<std::string, std::string>> cases = {{"./a.md", "segment 1 is '.'"},
                                                                  {"../a.md", "segment 1 is '..'"},
                                                                  {"x/../a.md", "segment 2 is '..'"},
                                                                  {"x/./a.md", "segment 2 is '.'"},
                                                                  {"x/..", "segment 2 is '..'"},
                                                                  {"/a.md", "segment 1 is empty"},
                                                                  {"x//a.md", "segment 2 is empty"},
                                                                  {"x/a.md/", "segment 3 is empty"},
                                                                  {".git/config.md", "segment 1 starts with '.'"},
                                                                  {"x/.hidden.md", "segment 2 starts with '.'"},
                                                                  {".md", "segment 1 starts with '.'"},
                                                                  {"...", "segment 1 starts with '.'"},
                                                                  {"-rf.md", "segment 1 starts with '-'"},
                                                                  {"x/-.md", "segment 2 starts with '-'"},
                                                                  {"x./a.md", "segment 1 ends in a dot or blank"},
                                                                  {"x /a.md", "segment 1 ends in a dot or blank"},
                                                                  {"x../a.md", "segment 1 ends in a dot or blank"},
                                                                  {"a.md.", "segment 1 ends in a dot or blank"},
                                                                  {"a.md ", "segment 1 ends in a dot or blank"},
                                                                  {" ", "segment 1 ends in a dot or blank"}};
  for (const auto& [path, expected] : cases) {
    INFO(path);
    CHECK(below(path) == expected);
  }
}

TEST_CASE("vault path: characters that a shell, a URL, Windows or a terminal takes for something else are refused") {
  for (const std::string c : {"\\", ":", "*", "?", "\"", "<", ">", "|", "`"}) {
    INFO(c);
    CHECK(below("a" + c + "b.md").starts_with("forbidden character U+00"));
  }
  for (const std::string code : {"%2e", "%2E", "%2f", "%5c", "%00", "%aF"}) {
    INFO(code);
    CHECK(below("a" + code + "b.md").starts_with("'%' before two hex digits, U+0025"));
  }
  CHECK(below("%2e%2e/a.md").starts_with("'%' before two hex digits"));
  CHECK(below("a%%41.md").starts_with("'%' before two hex digits"));
}

TEST_CASE("vault path: look-alikes of slash, backslash and single dot are refused") {
  for (const std::string c :
       {"\u2044", "\u2215", "\u29F8", "\uFF0F", "\u29F5", "\uFF3C", "\uFE68", "\u2024", "\uFF0E", "\uFE52"}) {
    INFO(c);
    CHECK(below("a" + c + "b.md").starts_with("look-alike of a slash, backslash or dot U+"));
  }
  CHECK(below("\u2024\u2024/a.md").starts_with("look-alike"));
  CHECK(below("\uFF0E\uFF0E/a.md").starts_with("look-alike"));
}

TEST_CASE("vault path: no segment's compatibility form is a dot segment or holds a slash") {
  CHECK(below("\u2025/a.md") == "the compatibility form (NFKC) of segment 1 is '..'");
  CHECK(below("x/\u2025") == "the compatibility form (NFKC) of segment 2 is '..'");
  CHECK(below("x/\u2100.md") == "the compatibility form (NFKC) of segment 2 holds a slash or backslash");  // a/c
  CHECK(below("\u2105.md") == "the compatibility form (NFKC) of segment 1 holds a slash or backslash");    // c/o
  CHECK(below("\u2026/a.md") == "safe");  // an ellipsis is three dots, a name like any other
  CHECK(below("\u2025x/a.md") == "safe");
}

TEST_CASE("vault path: control, format, bidi, zero-width, private and unassigned characters are refused") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\x01", "Cc"},   {"\t", "Cc"},         {"\n", "Cc"},         {"\x1b", "Cc"},   {"\x7f", "Cc"},
      {"\u0085", "Cc"}, {"\u200b", "Cf"},     {"\u200d", "Cf"},     {"\u200e", "Cf"}, {"\u202e", "Cf"},
      {"\u2066", "Cf"}, {"\u2069", "Cf"},     {"\u00ad", "Cf"},     {"\ufeff", "Cf"}, {"\u2060", "Cf"},
      {"\ue000", "Co"}, {"\U000f0000", "Co"}, {"\U000e0041", "Cf"}, {"\u0378", "Cn"}, {"\uffff", "Cn"},
      {"\u2028", "Zl"}, {"\u2029", "Zp"},     {"\u00a0", "Zs"},     {"\u3000", "Zs"}, {"\u2003", "Zs"}};
  for (const auto& [c, category] : cases) {
    const std::string found = below("a" + c + "b.md");
    INFO(found);
    CHECK(found.starts_with("character U+"));
    CHECK(found.ends_with(" at character 12 (category " + category + ") is not allowed"));
  }
  CHECK(below(std::string("a\0b.md", 6)).starts_with("character U+0000 at character 12"));
  CHECK(below("👨\u200d👩.md").starts_with("character U+200D"));  // a joined emoji is not plain
}

TEST_CASE("vault path: valid UTF-8 in NFC only") {
  for (const std::string bytes : {"\xff", "\xc0\xae", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3"}) {
    CHECK(below("a" + bytes + ".md") == "the path is not valid UTF-8");
  }
  CHECK(below("U\u0308bung.md") == "the path is not in Unicode normal form C (NFC)");
  CHECK(below("e\u0301.md") == "the path is not in Unicode normal form C (NFC)");
  CHECK(below("\u212b.md") == "the path is not in Unicode normal form C (NFC)");  // ANGSTROM SIGN
  CHECK(below("\u00dcbung.md") == "safe");
  CHECK(below("q\u0308.md") == "safe");  // a mark without a composed form
}

TEST_CASE("vault path: it ends in an allowed extension, by exact bytes") {
  for (const char* path : {"a", "a.MD", "a.txt", "a.md/b", "a.mdx", "amd", "a.ｍｄ"}) {
    INFO(path);
    CHECK(below(path) == "the path does not end in an allowed extension");
  }
  const std::vector<std::string> two = {".md", ".canvas"};
  CHECK(unsafe_path_rule("/app/vault/b.canvas", kRoot, two) == std::nullopt);
  CHECK(unsafe_path_rule("/app/vault/a.md", kRoot, {}) == "the path does not end in an allowed extension");
}

TEST_CASE("vault path: messages hold no raw character of the path but printable ones") {
  for (const std::string c : {"\x1b[31m", "\u202e", "\n", "\\"}) {
    const std::string found = below("a" + c + "b.md");
    CHECK(found.find_first_of("\x1b\n\\") == std::string::npos);
    CHECK(found.find("\u202e") == std::string::npos);
  }
}

TEST_CASE("vault path: collision keys meet where a case-insensitive disk would") {
  CHECK(collision_key("A/Übung.md") == collision_key("a/übung.MD"));
  CHECK(collision_key("STRASSE.md") == collision_key("straße.md"));
  CHECK(collision_key("ΣΑΣ.md") == collision_key("σας.md"));
  CHECK(collision_key("e\u0301.md") == collision_key("\u00c9.md"));
  CHECK(collision_key("a.md") != collision_key("b.md"));
  CHECK(collision_key("a/b.md") != collision_key("a b.md"));
  CHECK(collision_key("\xff.md") == "\xff.md");
}

TEST_CASE("vault path: the part below the root") {
  CHECK(below_root("/app/vault/x/a.md", "/app/vault") == "x/a.md");
  CHECK(below_root("/a.md", "") == "a.md");
}

}  // namespace
}  // namespace intray::model
