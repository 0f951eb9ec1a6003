#include "sys/landlock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace intray::sys {
namespace {

// By number and by structures of our own: Debian 12's headers end at ABI 3.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr unsigned kVersionFlag = 1;
constexpr int kPathBeneath = 1;
constexpr int kNetPort = 2;

constexpr std::uint64_t kFileRightsAbi1 = (1ULL << 13U) - 1;
constexpr std::uint64_t kIoctlDevice = 1ULL << 15U;  // ABI 5
constexpr std::uint64_t kBindTcp = 1ULL << 0U;       // ABI 4
constexpr std::uint64_t kConnectTcp = 1ULL << 1U;
constexpr std::uint64_t kScopeAbstractUnix = 1ULL << 0U;  // ABI 6
constexpr std::uint64_t kScopeSignal = 1ULL << 1U;

struct RulesetAttributes {
  std::uint64_t handled_files;
  std::uint64_t handled_net;  // ABI 4
  std::uint64_t scoped;       // ABI 6
};

struct __attribute__((packed)) PathBeneathAttributes {
  std::uint64_t rights;
  std::int32_t parent;
};

struct NetPortAttributes {
  std::uint64_t rights;
  std::uint64_t port;
};

std::uint64_t file_rights(int abi) {
  std::uint64_t rights = kFileRightsAbi1;
  if (abi >= 2) rights |= landlock::kRefer;
  if (abi >= 3) rights |= landlock::kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}

// The kernel takes what it doesn't know as E2BIG only where it isn't zero; a shorter structure is always right.
std::size_t size_for(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

}  // namespace

int landlock_abi() {
  const long abi = ::syscall(kCreateRuleset, nullptr, 0, kVersionFlag);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

LandlockError landlock_restrict(const LandlockRules& rules) {
  const int kernel = landlock_abi();
  const int abi = kernel < rules.abi_max ? kernel : rules.abi_max;
  if (abi < 1) return {"landlock_create_ruleset", EOPNOTSUPP};
  const RulesetAttributes attributes{.handled_files = file_rights(abi),
                                     .handled_net = abi >= 4 ? kBindTcp | kConnectTcp : 0,
                                     .scoped = abi >= 6 ? kScopeAbstractUnix | kScopeSignal : 0};
  const int ruleset = static_cast<int>(::syscall(kCreateRuleset, &attributes, size_for(abi), 0));
  if (ruleset < 0) return {"landlock_create_ruleset", errno};
  LandlockError failed;
  for (std::size_t i = 0; i < rules.count && failed.step == nullptr; ++i) {
    const PathBeneathAttributes rule{.rights = rules.rules[i].rights & attributes.handled_files,
                                     .parent = rules.rules[i].directory};
    if (::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) failed = {"landlock_add_rule", errno};
  }
  if (failed.step == nullptr && abi >= 4 && rules.tcp_port != 0) {
    const NetPortAttributes rule{.rights = kConnectTcp, .port = static_cast<std::uint64_t>(rules.tcp_port)};
    if (::syscall(kAddRule, ruleset, kNetPort, &rule, 0) != 0) failed = {"landlock_add_rule (port)", errno};
  }
  if (failed.step == nullptr && ::syscall(kRestrictSelf, ruleset, 0) != 0) failed = {"landlock_restrict_self", errno};
  ::close(ruleset);
  return failed;
}

}  // namespace intray::sys
