#include "config/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace intray::config {
namespace {

struct Unit {
  std::string_view word;
  std::int64_t factor;
  std::int64_t print_from = 1;  // smaller counts are printed in a smaller unit: people say 24h and 60s
};

constexpr std::int64_t kSecond_us = 1'000'000;
// Largest first: printing takes the first that divides.
constexpr auto kDurationUnits = std::to_array<Unit>({{"d", 86'400 * kSecond_us, 2},
                                                     {"h", 3'600 * kSecond_us},
                                                     {"m", 60 * kSecond_us, 2},
                                                     {"s", kSecond_us},
                                                     {"ms", 1'000},
                                                     {"us", 1}});
constexpr auto kSizeUnits =
    std::to_array<Unit>({{"GiB", 1LL << 30U}, {"MiB", 1LL << 20U}, {"KiB", 1LL << 10U}, {"B", 1}});

constexpr std::int64_t kDurationMax_us = 36'525LL * 86'400 * kSecond_us;
constexpr std::int64_t kSizeMax_bytes = 1LL << 53U;

template <std::size_t N>
std::optional<std::int64_t> parse_with_unit(std::string_view text, const std::array<Unit, N>& units, std::int64_t max) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || text.front() == '-') return std::nullopt;
  const std::string_view word = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.word != word) continue;
    if (count > max / unit.factor) return std::nullopt;
    return count * unit.factor;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string format_with_unit(std::int64_t value, const std::array<Unit, N>& units) {
  if (value == 0) return "0";
  for (const Unit& unit : units)
    if (value % unit.factor == 0 && value / unit.factor >= unit.print_from)
      return fmt::format("{}{}", value / unit.factor, unit.word);
  return std::to_string(value);
}

}  // namespace

std::optional<base::Micros> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto us = parse_with_unit(text, kDurationUnits, kDurationMax_us);
  return us ? std::optional(base::Micros{*us}) : std::nullopt;
}

std::string format_duration(base::Micros duration) { return format_with_unit(duration.count(), kDurationUnits); }

std::optional<std::int64_t> parse_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.back() >= '0' && text.back() <= '9')
    return parse_with_unit(std::string(text) + "B", kSizeUnits, kSizeMax_bytes);
  return parse_with_unit(text, kSizeUnits, kSizeMax_bytes);
}

std::string format_size(std::int64_t bytes) { return format_with_unit(bytes, kSizeUnits); }

}  // namespace intray::config
