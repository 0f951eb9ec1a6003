#include "base/escape.h"

#include <utf8proc.h>

#include <fmt/format.h>

namespace intray::base {
namespace {

bool is_printable(utf8proc_int32_t cp) {
  switch (utf8proc_category(cp)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
  }
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t cp = 0;
    const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data());  // NOLINT(*-reinterpret-cast)
    utf8proc_ssize_t n = utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(text.size()), &cp);
    const bool valid = n > 0;
    if (!valid) n = 1;
    const std::string_view unit = text.substr(0, static_cast<std::size_t>(n));
    if (valid && cp == '\\') {
      out += "\\\\";
    } else if (valid && is_printable(cp)) {
      out += unit;
    } else {
      for (const char c : unit) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(unit.size());
  }
  return out;
}

}  // namespace intray::base
