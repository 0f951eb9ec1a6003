// Purpose:    where a command writes, and how: results to `out`, everything else to `err`, colour only where it helps.
// Trust:      callers escape untrusted text (base/escape.h) before it comes here.
// Thread use: one thread.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace intray::cli {

enum class Colour { kNone, kRed, kYellow, kGreen, kBlue, kDim, kBold };

struct Console {
  std::ostream& out;
  std::ostream& err;
  const base::Clock& clock;
  bool json = false;
  bool utc = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colour = false;
  int columns = 0;  // of the terminal that `out` is; 0: no limit

  std::string paint(Colour wanted, std::string_view text) const;
  // A wall time for people: local, or UTC in RFC 3339 with `utc`.
  std::string time(base::WallTime t) const;
};

// The process's own: standard streams, terminal width, NO_COLOR.
Console standard_console(const base::Clock& clock);

// "intray: <text>" on one line of `err`; text of several lines gets the prefix on each.
void complain(Console& console, std::string_view text);
void complain(Console& console, const base::Error& error);

}  // namespace intray::cli
