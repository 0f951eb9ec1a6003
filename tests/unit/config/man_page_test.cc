#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/settings_keys.h"

using namespace intray::config;

namespace {

constexpr std::string_view kBegin =
    ".\\\" Every setting, from the table in src/config/settings_keys.cc; INTRAY_UPDATE_MAN=1 config_test rewrites "
    "it.\n";
constexpr std::string_view kEnd = ".\\\" End of the settings.\n";

// Text of ours in mdoc: sentences on lines of their own, no backslashes, and no line that begins like a request.
std::string mdoc_text(std::string text) {
  for (std::size_t at = 0; (at = text.find('\\', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\e");
  for (std::size_t at = 0; (at = text.find(". ", at)) != std::string::npos; ++at) text.replace(at, 2, ".\n");
  text.insert(0, "\n");
  for (std::size_t at = 0; (at = text.find_first_of(".'", at)) != std::string::npos; ++at)
    if (text[at - 1] == '\n') text.insert(at, "\\&"), at += 2;
  return text.substr(1);
}

std::string reference() {
  std::string out = ".Bl -tag -width indent\n";
  Settings plain;
  plain.agent = "save";  // the kind's word
  for (const Key<Settings>& key : settings_keys()) {
    out += ".It Ic " + key.path + "\n" + mdoc_text(key.doc) + "\n";
    out += "Takes " + mdoc_text(key.allowed) + ".\n";
    out += key.required ? "Required.\n" : "Default: " + mdoc_text(key.print(plain)) + "\n";
  }
  return out + ".El\n";
}

}  // namespace

TEST_CASE("save.toml.5: documents every setting as the table has it") {
  const char* source_root = std::getenv("INTRAY_SOURCE_ROOT");
  REQUIRE(source_root != nullptr);
  const std::string path = std::string(source_root) + "/docs/man/save.toml.5";
  std::ostringstream bytes;
  bytes << std::ifstream(path).rdbuf();
  std::string page = bytes.str();
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::size_t from = begin + kBegin.size();
  if (std::getenv("INTRAY_UPDATE_MAN") != nullptr) {
    page.replace(from, end - from, reference());
    std::ofstream(path) << page;
  } else {
    CHECK(page.substr(from, end - from) == reference());
  }
}
