#include "intray-connector/lock_down.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "sys/landlock.h"
#include "sys/seccomp_tables.h"

namespace intray::connector {
namespace {

constexpr int kSetMdwe = 65;  // Linux 6.3; not in Debian 12's headers
constexpr unsigned long kMdweRefuseExecGain = 1;

int port_of(const Address& address) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  sockaddr_in of_either_family{};
  std::memcpy(&of_either_family, &address.storage, sizeof of_either_family);
  return ntohs(of_either_family.sin_port);
}

bool failed(const char* step, const char* what, int error) {
  std::array<char, 160> line{};
  const char* const why = std::strerror(error);  // NOLINT(concurrency-mt-unsafe): one thread
  static_cast<void>(std::snprintf(line.data(), line.size(), "%s %s: %s", step, what, why));
  complain("not locked down", line.data());
  return false;
}

}  // namespace

bool lock_down(const Options& options, const Address& address) {
  // Closes what the starter left open, and makes the channel the highest number, so that no pinned one can be reused.
  const auto channel = static_cast<unsigned>(options.channel);
  if ((channel > 3 && ::close_range(3, channel - 1, 0) != 0) || ::close_range(channel + 1, ~0U, 0) != 0)
    return failed("close_range", "", errno);
  if (channel > 3) {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    while (null >= 0 && ::fcntl(null, F_DUPFD_CLOEXEC, 3) < options.channel) {
    }
    static_cast<void>(::close_range(channel + 1, ~0U, 0));
  }
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::setrlimit(RLIMIT_NPROC, &none) != 0)
    return failed("setrlimit", "", errno);
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return failed("prctl", "", errno);
  static_cast<void>(::prctl(kSetMdwe, kMdweRefuseExecGain, 0, 0, 0));  // where there is one

  if (sys::landlock_abi() > 0) {
    const sys::LandlockError e = sys::landlock_restrict({.tcp_port = port_of(address)});
    if (e.step != nullptr) return failed(e.step, "", e.error);
  } else if (!options.allow_reduced) {
    complain("this kernel has no Landlock; --allow-reduced starts without it");
    return false;
  }

  const std::array<sys::FilterValue, 4> values{{
      {"family", static_cast<std::uint64_t>(address.family())},
      {"address_bytes", address.bytes},
      {"channel", channel},
      {"last_opened", channel},
  }};
  const sys::FilterError e = sys::load_filter({.rules = sys::kConnector,
                                               .rule_count = sys::kConnectorCount,
                                               .more_rules = sys::kSanitizerBuild ? sys::kSanitizer : nullptr,
                                               .more_rule_count = sys::kSanitizerBuild ? sys::kSanitizerCount : 0,
                                               .values = values.data(),
                                               .value_count = values.size()});
  return e.step == nullptr || failed(e.step, e.call, e.error);
}

}  // namespace intray::connector
