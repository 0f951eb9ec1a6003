#include "receiver/content_reply.h"

#include <algorithm>

#include "base/utf8.h"

namespace intray::receiver {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view json) : rest_(json) {}

  bool token(char expected) {
    skip_blank();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool literal(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool at_end() {
    skip_blank();
    return rest_.empty();
  }
  // Behind the opening quote. Bytes above ASCII pass unchecked: the caller checks the whole.
  std::optional<std::string> string() {
    std::string out;
    out.reserve(rest_.size());
    while (true) {
      const std::size_t run = plain_run();
      out.append(rest_, 0, run);
      rest_.remove_prefix(run);
      if (rest_.empty()) return std::nullopt;
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return out;
      if (c != '\\' || !escape(out)) return std::nullopt;
    }
  }

 private:
  void skip_blank() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

  std::size_t plain_run() const {
    std::size_t n = 0;
    while (n < rest_.size() && rest_[n] != '"' && rest_[n] != '\\' && static_cast<unsigned char>(rest_[n]) >= 0x20) ++n;
    return n;
  }

  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    if (letter != 'u') {
      const std::size_t at = kLetters.find(letter);
      if (at == std::string_view::npos) return false;
      out += kMeanings[at];
      return true;
    }
    std::optional<char32_t> unit = hex_unit();
    if (!unit || (*unit >= 0xdc00 && *unit < 0xe000)) return false;
    if (*unit >= 0xd800 && *unit < 0xdc00) {
      if (!rest_.starts_with("\\u")) return false;
      rest_.remove_prefix(2);
      const std::optional<char32_t> low = hex_unit();
      if (!low || *low < 0xdc00 || *low >= 0xe000) return false;
      unit = 0x10000 + ((*unit - 0xd800) << 10U) + (*low - 0xdc00);
    }
    append_utf8(out, *unit);
    return true;
  }

  std::optional<char32_t> hex_unit() {
    constexpr std::size_t kDigits = 4;
    if (rest_.size() < kDigits) return std::nullopt;
    char32_t unit = 0;
    for (std::size_t i = 0; i < kDigits; ++i) {
      const char c = rest_[i];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return std::nullopt;
      unit = (unit << 4U) | static_cast<char32_t>(digit);
    }
    rest_.remove_prefix(kDigits);
    return unit;
  }

  static void append_utf8(std::string& out, char32_t c) {
    const auto put = [&out](char32_t octet) { out += static_cast<char>(octet); };
    if (c < 0x80) return put(c);
    if (c < 0x800) {
      put(0xc0U | (c >> 6U));
    } else if (c < 0x10000) {
      put(0xe0U | (c >> 12U));
      put(0x80U | ((c >> 6U) & 0x3fU));
    } else {
      put(0xf0U | (c >> 18U));
      put(0x80U | ((c >> 12U) & 0x3fU));
      put(0x80U | ((c >> 6U) & 0x3fU));
    }
    put(0x80U | (c & 0x3fU));
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string> only_string_member(std::string_view json, std::string_view name) {
  Scanner scanner(json);
  if (!scanner.token('{') || !scanner.token('"') || !scanner.literal(name) || !scanner.literal("\""))
    return std::nullopt;
  if (!scanner.token(':') || !scanner.token('"')) return std::nullopt;
  std::optional<std::string> value = scanner.string();
  if (!value || !scanner.token('}') || !scanner.at_end() || !base::is_utf8(*value)) return std::nullopt;
  return value;
}

}  // namespace intray::receiver
