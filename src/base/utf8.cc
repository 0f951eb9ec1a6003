#include "base/utf8.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

namespace intray::base {
namespace {

const utf8proc_uint8_t* octets(std::string_view s) {
  return reinterpret_cast<const utf8proc_uint8_t*>(s.data());  // NOLINT(*-reinterpret-cast): chars as octets
}

bool all_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

std::optional<std::string> map(std::string_view text, int options) {
  utf8proc_uint8_t* out = nullptr;
  const utf8proc_ssize_t n = utf8proc_map(octets(text), static_cast<utf8proc_ssize_t>(text.size()), &out,
                                          static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (n < 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(out), static_cast<std::size_t>(n));  // NOLINT(*-reinterpret-cast)
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    utf8proc_int32_t cp = 0;
    const utf8proc_ssize_t n = utf8proc_iterate(octets(text), static_cast<utf8proc_ssize_t>(text.size()), &cp);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::optional<std::vector<char32_t>> code_points(std::string_view text) {
  std::vector<char32_t> out;
  out.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t cp = 0;
    const utf8proc_ssize_t n = utf8proc_iterate(octets(text), static_cast<utf8proc_ssize_t>(text.size()), &cp);
    if (n <= 0) return std::nullopt;
    out.push_back(static_cast<char32_t>(cp));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return out;
}

std::string_view category(char32_t code_point) {
  return utf8proc_category_string(static_cast<utf8proc_int32_t>(code_point));
}

std::optional<std::string> nfc(std::string_view text) {
  if (all_ascii(text)) return std::string(text);
  return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::optional<std::string> nfkc(std::string_view text) {
  if (all_ascii(text)) return std::string(text);
  return map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

std::optional<std::string> case_fold(std::string_view text) {
  if (all_ascii(text)) {
    std::string out(text);
    for (char& c : out)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
  }
  // Composed first: folding turns the mark U+0345 into a letter, which other marks can no longer be sorted around, so
  // that two spellings of one text would fold apart.
  const auto composed = nfc(text);
  return composed ? map(*composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD) : std::nullopt;
}

}  // namespace intray::base
