#include "sys/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <string_view>

#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

constexpr std::size_t kRecordBytesMax = 8192;  // the kernel's own limit for one read
constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kNanosPerMicro = 1000;

// "6,1234,5678901,-;text": priority, sequence, microseconds since boot (CLOCK_MONOTONIC), flags.
std::int64_t microseconds_of(std::string_view head) {
  std::int64_t value = 0;
  for (int comma = 0; comma < 2; ++comma) head.remove_prefix(std::min(head.find(','), head.size() - 1) + 1);
  std::from_chars(head.data(), head.data() + head.size(), value);
  return value;
}

}  // namespace

base::Result<std::vector<KernelRecord>> kernel_records(const std::string& part, const base::Clock& clock) {
  const Fd log(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!log.valid()) return fail_call(errno, "/dev/kmsg");
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t since_boot_us = now.tv_sec * kMicrosPerSecond + now.tv_nsec / kNanosPerMicro;
  const base::WallTime boot = clock.wall() - base::Micros{since_boot_us};
  std::vector<KernelRecord> found;
  while (true) {
    std::array<char, kRecordBytesMax> buffer{};
    const ssize_t n = ::read(log.get(), buffer.data(), buffer.size());
    if (n < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: the ring has overtaken us; the next is there
    if (n < 0 && errno == EAGAIN) return found;
    if (n < 0) return fail_call(errno, "/dev/kmsg");
    if (n == 0) return found;
    const std::string_view record(buffer.data(), static_cast<std::size_t>(n));
    const std::size_t semicolon = record.find(';');
    if (semicolon == std::string_view::npos) continue;
    const std::string_view text = record.substr(semicolon + 1, record.find('\n', semicolon) - semicolon - 1);
    if (!text.contains(part)) continue;
    found.push_back({boot + base::Micros{microseconds_of(record.substr(0, semicolon))}, std::string(text)});
  }
}

}  // namespace intray::sys
