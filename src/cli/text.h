// Purpose:    small text for people: counts, ages, widths on a terminal.
// Trust:      callers escape untrusted text first: widths are those of printable text.
// Thread use: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace intray::cli {

// "1 job", "2 jobs", "1,234 jobs".
std::string count(std::int64_t number, std::string_view singular);
std::string with_commas(std::int64_t number);

// The largest unit alone: "45s", "12m", "3h", "5d"; "now" under a second. A negative age says so: "-3m".
std::string age(base::Micros since);
// "12m ago", "now", "in 3m".
std::string ago(base::Micros since);

// Columns the text takes on a terminal: combining marks 0, East Asian wide characters and emoji 2.
int width(std::string_view text);

// At most `columns` wide, with an ellipsis where something was cut: at the end, or at the start (of paths, whose end
// says more).
std::string cut_end(std::string_view text, int columns);
std::string cut_start(std::string_view text, int columns);

std::string lower(std::string_view text);  // ASCII letters only
std::string upper(std::string_view text);

}  // namespace intray::cli
