// Purpose:    durations and sizes as people write them: "15s", "500ms", "7d", "4MiB".
// Thread use: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace intray::config {

inline constexpr std::string_view kDurationForm = R"(a number and a unit of us, ms, s, m (minutes), h, d, like "15s")";
inline constexpr std::string_view kSizeForm =
    R"(a number of bytes, or a number and a unit of B, KiB, MiB, GiB, like "4MiB")";

// Digits and one unit, nothing else: no sign, fraction or blank. nullopt otherwise, and over 100 years.
std::optional<base::Micros> parse_duration(std::string_view text);
// The shortest whole form that parses back to the same: "7d", "36h", "90s", "0".
std::string format_duration(base::Micros duration);

// Digits, with or without a unit. nullopt otherwise, and over 2^53 bytes.
std::optional<std::int64_t> parse_size(std::string_view text);
std::string format_size(std::int64_t bytes);  // "4MiB", "1000B"

}  // namespace intray::config
