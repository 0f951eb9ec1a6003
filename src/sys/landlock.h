// Purpose:    Landlock (landlock(7)): which files this process may still reach by a path, and which TCP ports it may
//             dial, from here on.
// Process:    executors and intray-connector, once, before the system call filter.
// Trust:      the rules are the program's own.
// Thread use: the calling thread and those it makes later, so the process must have one thread when it restricts
// itself.
//
// Of the C library alone, because intray-connector is too. What was opened before keeps its powers, except that an open
// directory gives no right to what is in it: each directory needs its rule.
#pragma once

#include <cstddef>
#include <cstdint>

namespace intray::sys {

// The kernel's numbers (include/uapi/linux/landlock.h), under its names without the prefix.
namespace landlock {
inline constexpr std::uint64_t kExecute = 1ULL << 0U;
inline constexpr std::uint64_t kWriteFile = 1ULL << 1U;
inline constexpr std::uint64_t kReadFile = 1ULL << 2U;
inline constexpr std::uint64_t kReadDir = 1ULL << 3U;
inline constexpr std::uint64_t kRemoveDir = 1ULL << 4U;
inline constexpr std::uint64_t kRemoveFile = 1ULL << 5U;
inline constexpr std::uint64_t kMakeReg = 1ULL << 8U;
inline constexpr std::uint64_t kRefer = 1ULL << 13U;     // ABI 2
inline constexpr std::uint64_t kTruncate = 1ULL << 14U;  // ABI 3

inline constexpr int kAbiMax = 7;    // the newest this program was written for
inline constexpr int kAbiFloor = 2;  // Linux 5.19: below it every rename from one directory to another is refused
}  // namespace landlock

struct LandlockRule {
  int directory = -1;  // an open descriptor
  std::uint64_t rights = 0;
};

struct LandlockRules {
  const LandlockRule* rules = nullptr;
  std::size_t count = 0;
  int tcp_port = 0;                 // the one port that may be dialled; 0: none
  int abi_max = landlock::kAbiMax;  // tests look at what an older kernel would do
};

// What this kernel offers: 0 where Landlock is missing or off at boot.
int landlock_abi();

struct LandlockError {
  const char* step = nullptr;  // nullptr: nothing
  int error = 0;               // errno
};

// Requires no_new_privs and an ABI of at least 1 (both of the kernel and by abi_max). On failure nothing is restricted.
LandlockError landlock_restrict(const LandlockRules& rules);

}  // namespace intray::sys
