#include <catch2/catch.hpp>
#include <random>

#include "limits.h"
#include "source/source.h"

using intray::source::FrontMatter;
using intray::source::read_front_matter;

namespace {

FrontMatter read(const std::string& note) { return read_front_matter(note, "id", "status"); }
FrontMatter read_block(const std::string& block) { return read("---\n" + block + "---\nBody\n"); }
using Value = std::optional<std::string>;

TEST_CASE("front matter: scalars of the top level, in every style of YAML") {
  const auto value = [](const std::string& line) {
    const FrontMatter out = read_block("title: x\nstatus: " + line + "\ntags: [a, b]\n");
    CHECK(out.present);
    CHECK(out.readable);
    return out.state;
  };
  CHECK(value("active") == "active");
  CHECK(value("  in review   # a comment") == "in review");
  CHECK(value("'it''s'") == "it's");
  CHECK(value("\"a\\tb\"") == "a\tb");
  CHECK(value("|\n  block\n  text") == "block\ntext\n");
  CHECK(value(">\n  folded\n  text") == "folded text\n");
  CHECK(value("2026-11-30") == "2026-11-30");
  CHECK(value("") == std::nullopt);
  CHECK(value("''") == "");
  CHECK(value("[active]") == "");
  CHECK(value("\n  nested: active") == "");
}

TEST_CASE("front matter: keys match by exact bytes, at the top level only") {
  const FrontMatter out =
      read_block("Status: A\nnested:\n  status: B\n  id: C\nlist:\n  - status: D\n\"id\": quoted\n");
  CHECK(out.readable);
  CHECK(out.state == std::nullopt);
  CHECK(out.id == "quoted");
}

TEST_CASE("front matter: an empty block, or one of comments, has no keys") {
  for (const std::string block : {"", "\n\n", "# nothing\n"}) {
    const FrontMatter out = read_block(block);
    CHECK(out.present);
    CHECK(out.readable);
    CHECK(out.state == std::nullopt);
  }
}

TEST_CASE("front matter: where it begins and ends") {
  CHECK_FALSE(read("").present);
  CHECK_FALSE(read("Text\n---\nstatus: a\n---\n").present);
  CHECK_FALSE(read("\n---\nstatus: a\n---\n").present);
  CHECK_FALSE(read(" ---\nstatus: a\n---\n").present);
  CHECK_FALSE(read("----\nstatus: a\n---\n").present);
  CHECK_FALSE(read("--- text\nstatus: a\n---\n").present);
  CHECK(read("---\r\nstatus: a\r\nid: b\r\n---\r\nBody\r\n").state == "a");
  CHECK(read("---  \t\nstatus: a\n--- \nBody").state == "a");
  CHECK(read("---\nstatus: a\n---").state == "a");
  CHECK(read("---\nstatus: a\n---\nMore\n---\nstatus: b\n---\n").state == "a");
}

TEST_CASE("front matter: what begins and can't be read is present, not readable, and gives no values") {
  const auto unreadable = [](const std::string& note) {
    const FrontMatter out = read(note);
    CHECK(out.present);
    CHECK_FALSE(out.readable);
    CHECK(out.id == std::nullopt);
    CHECK(out.state == std::nullopt);
  };
  unreadable("---");
  unreadable("---\n");
  unreadable("---\nstatus: a\n");
  unreadable("---\nstatus: a\n ---\nBody\n");
  unreadable("\xEF\xBB\xBF---\nstatus: a\n---\n");
  const auto bad = [&](const std::string& block) {
    INFO(block);
    unreadable("---\n" + block + "---\n");
  };
  bad("status: a\nstatus: b\n");
  bad("status: a\nother:\n  x: 1\n  x: 2\n");
  bad("status: &a x\nother: *a\n");
  bad("status: x\nother: &anchor y\n");
  bad("status: *nowhere\n");
  bad("status: !!str x\n");
  bad("status: x\nother: !custom {a: b}\n");
  bad("list: !seq [a]\nstatus: x\n");
  bad("%YAML 1.1\nstatus: x\n");
  bad("%TAG ! tag:example.org,2026:\nstatus: x\n");
  bad("# comment\r%YAML 1.1\rstatus: x\n");
  bad("--- status: x\n");
  bad("status: x\n...\nstatus: y\n");
  bad("status: x\n...\n");
  bad("\tstatus: x\n");
  bad("a:\n\tb: x\nstatus: y\n");
  bad("status: [a, b\n");
  bad("status: {a: b\n");
  bad("status: 'open\n");
  bad("status: \"open\n");
  bad("status: \"\\q\"\n");
  bad("status: x: y\n");
  bad("status: 'two '''' quotes'\n");
  bad("- a\n- b\n");
  bad("only a sentence\n");
  bad("? [a, b]\n: c\nstatus: x\n");
  bad("status: x\nbell: \x07\n");
  bad("status: x\n" + std::string("nul: \0\n", 7));
  bad("status: x\nbroken: \xC3\x28\n");
  bad("status: x\nother: @at\n");
}

TEST_CASE("front matter: bombs are refused before they mean anything") {
  std::string laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before = "*" + std::string(1, static_cast<char>(c - 1));
    laughs += std::string(1, c) + ": &" + c + " [" + before + ", " + before + ", " + before + ", " + before + "]\n";
  }
  CHECK_FALSE(read_block(laughs).readable);

  const auto nested = [](std::size_t depth) {
    return "a: " + std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  CHECK(read_block(nested(intray::limits::kFrontMatterDepthMax - 1)).readable);
  CHECK_FALSE(read_block(nested(intray::limits::kFrontMatterDepthMax)).readable);
  CHECK_FALSE(read_block(nested(20'000)).readable);
  CHECK_FALSE(read_block("a: " + std::string(60'000, '[') + "\n").readable);
  CHECK_FALSE(read_block("a: " + std::string(60'000, '{') + "\n").readable);
  std::string dashes;
  for (int i = 0; i < 20'000; ++i) dashes += "- ";
  CHECK_FALSE(read_block("a:\n  " + dashes + "\n").readable);
  std::string indented;
  for (std::size_t i = 0; i < 300; ++i) indented += std::string(i, ' ') + "k:\n";
  CHECK_FALSE(read_block(indented).readable);

  std::string keys;
  for (std::size_t i = 0; i <= intray::limits::kFrontMatterNodesMax; ++i) keys += "- x\n";
  CHECK_FALSE(read_block("list:\n" + keys).readable);

  std::string long_text = "status: a\ntext: ";
  long_text += std::string(intray::limits::kFrontMatterBytesMax - long_text.size() - 1, 'x') + "\n";
  CHECK(read_block(long_text).state == "a");
  CHECK_FALSE(read_block("#" + long_text).readable);
  CHECK_FALSE(read("---\n" + std::string(5'000'000, '\n')).readable);
}

// Whatever comes out, it came out: no crash, no hang, and never a value from a block that is not readable.
TEST_CASE("front matter: mutated blocks never crash the reader") {
  const std::vector<std::string> seeds = {
      "---\nid: n-1\nstatus: active\ntags: [a, b, {c: d}]\nmore:\n  - x\n  - y: |\n      text\n---\nBody\n",
      "---\r\nid: \"quoted \\u00e4\"\r\nstatus: 'single'\r\n# comment\r\n? key\r\n: value\r\n---\r\n",
      "---\na: &x [1, 2]\nb: *x\nc: !!map {d: e}\n%YAML 1.2\n--- >-\n folded\n...\n---\n",
  };
  const std::string alphabet = "-:[]{}&*!|>'\"%@`#,?\t \n\r\\~=<^0aA\xC3\xA4\xFF\x01\xEF\xBB\xBF";
  std::mt19937 random(20261130);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  int readable = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string note = seeds[below(seeds.size())];
    for (std::size_t edits = 1 + below(8); edits > 0 && note.size() > 4; --edits) {
      const std::size_t at = 4 + below(note.size() - 4);
      switch (below(5)) {
        case 0: note[at] = alphabet[below(alphabet.size())]; break;
        case 1: note.insert(at, 1, alphabet[below(alphabet.size())]); break;
        case 2: note.erase(at, 1 + below(5)); break;
        case 3: note.insert(at, note.substr(4 + below(note.size() - 4), 1 + below(20))); break;
        default: note.insert(at, std::string(1 + below(30), alphabet[below(alphabet.size())])); break;
      }
    }
    const FrontMatter out = read(note);
    if (out.readable) {
      ++readable;
    } else if (out.id || out.state) {
      FAIL("a value from an unreadable block: " << note);
    }
  }
  CHECK(readable > 100);  // the mutations reach the reader, not only its refusals
}

}  // namespace
