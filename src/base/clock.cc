#include "base/clock.h"

#include <fmt/format.h>

#include <ctime>

namespace intray::base {
namespace {

Micros read_clock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds{ts.tv_sec} + Micros{ts.tv_nsec / 1000};
}

// Decimal value of text[at, at+len), or -1 where a character is no digit.
int digits(std::string_view text, std::size_t at, std::size_t len) {
  int value = 0;
  for (const char c : text.substr(at, len)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

WallTime SystemClock::wall() const { return WallTime{read_clock(CLOCK_REALTIME)}; }
BootTime SystemClock::boot() const { return BootTime{read_clock(CLOCK_BOOTTIME)}; }

std::string format_rfc3339(WallTime t) {
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{t - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  // 0123456789012345678
  // YYYY-MM-DDThh:mm:ss[.f{1,6}]Z
  constexpr std::size_t kFixed = 19;
  if (text.size() < kFixed + 1 || text.back() != 'Z') return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') return std::nullopt;
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (year < 1970 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 59)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  std::int64_t fraction_us = 0;
  const std::string_view rest = text.substr(kFixed, text.size() - kFixed - 1);
  if (!rest.empty()) {
    const std::string_view fraction = rest.substr(1);
    if (rest[0] != '.' || fraction.empty() || fraction.size() > 6) return std::nullopt;
    const int value = digits(fraction, 0, fraction.size());
    if (value < 0) return std::nullopt;
    fraction_us = value;
    for (std::size_t i = fraction.size(); i < 6; ++i) fraction_us *= 10;
  }
  return WallTime{std::chrono::sys_days{date}.time_since_epoch() + std::chrono::hours{hour} +
                  std::chrono::minutes{minute} + std::chrono::seconds{second} + Micros{fraction_us}};
}

}  // namespace intray::base
