// Purpose:    quotes untrusted text in a message: short, escaped, on one line.
// Thread use: pure.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/escape.h"
#include "limits.h"

namespace intray::model {

// The first bytes of the text between single quotes, escaped; a cut is marked by an ellipsis. What is cut never ends
// in the middle of a UTF-8 sequence.
inline std::string excerpt(std::string_view text) {
  std::size_t end = limits::kExcerptBytesMax;
  if (text.size() <= end) return fmt::format("'{}'", base::escape(text));
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("'{}…'", base::escape(text.substr(0, end)));
}

}  // namespace intray::model
