// Purpose:    the two clocks, as types that can't be mixed, and RFC 3339 text.
// Thread use: SystemClock is stateless; FakeClock belongs to one test thread.
//
// Wall time is for people, file names and the job contract; it may jump. Boot time (CLOCK_BOOTTIME, counts suspend)
// is for durations: leases, back-off, timeouts. A boot time means nothing without the boot id it was taken under.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace intray::base {

using Micros = std::chrono::microseconds;
using WallTime = std::chrono::sys_time<Micros>;  // UTC, microseconds since the epoch

struct BootClock {
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual BootTime boot() const = 0;
};

class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  BootTime boot() const override;
};

class FakeClock final : public Clock {
 public:
  WallTime wall() const override { return wall_; }
  BootTime boot() const override { return boot_; }
  void advance(Micros by) { wall_ += by, boot_ += by; }
  void step_wall(Micros by) { wall_ += by; }

 private:
  WallTime wall_{Micros{1'796'044'522'000'000}};
  BootTime boot_{Micros{1'000'000'000}};
};

inline std::int64_t to_us(WallTime t) { return t.time_since_epoch().count(); }
inline WallTime from_us(std::int64_t us) { return WallTime{Micros{us}}; }

// "2026-11-30T15:34:05.123456Z": RFC 3339, UTC, always six digits of fraction.
std::string format_rfc3339(WallTime t);
// RFC 3339, UTC only: upper-case T and Z, optional fraction of 1 to 6 digits, a real date of the years 1970 to 9999,
// no leap second. nullopt otherwise.
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace intray::base
