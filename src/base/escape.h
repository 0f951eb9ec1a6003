// Purpose:    makes untrusted text safe for a terminal or a log line.
// Trust:      input is hostile; output is printable, on one line, and reversible by eye.
#pragma once

#include <string>
#include <string_view>

namespace intray::base {

// C0, DEL, C1, invalid UTF-8 and every code point of category Cc, Cf, Zl, Zp, Co, Cs, Cn (bidi controls and zero-width
// characters among them) become \xHH per octet; a backslash becomes "\\". Everything else passes.
std::string escape(std::string_view text);

}  // namespace intray::base
