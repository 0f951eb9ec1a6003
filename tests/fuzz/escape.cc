// Untrusted text for a terminal or a log line: harmless, and nothing is lost.
#include <string>

#include "base/escape.h"
#include "base/utf8.h"
#include "target.h"

using namespace intray;

namespace {

int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text.substr(i + 1, 1) == "\\") {
      out += '\\';
      ++i;
    } else {
      CHECK(text.substr(i + 1, 1) == "x" && i + 3 < text.size());
      out += static_cast<char>(digit_of(text[i + 2]) * 16 + digit_of(text[i + 3]));
      i += 3;
    }
  }
  return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::string escaped = base::escape(text);
  CHECK(fuzz::is_one_plain_line(escaped) && escaped.size() <= text.size() * 4);
  CHECK(unescape(escaped) == text);
  const auto points = base::code_points(escaped);
  CHECK(points);
  for (const char32_t c : *points) CHECK(base::category(c) != "Cf" && base::category(c) != "Cc");
  CHECK(base::code_points(text).has_value() == base::is_utf8(text));
  for (const auto& form : {base::nfc(text), base::nfkc(text), base::case_fold(text)}) {
    CHECK(form.has_value() == base::is_utf8(text));
    if (form) CHECK(base::is_utf8(*form));
  }
  if (const auto composed = base::nfc(text)) CHECK(base::nfc(*composed) == composed);
  return 0;
}
