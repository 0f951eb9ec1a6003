// Purpose:    harmless attempts at what a confined process must not be able to do, and a child to try them in.
// Process:    executors' self-test, tests.
// Trust:      the answers are the kernel's.
// Thread use: one thread: it forks.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "sys/dir.h"

namespace intray::sys {

// How a child ended.
struct ChildEnd {
  int signal = 0;  // killed by it; 0: it ended by itself
  int code = 0;    // then: its exit code
};

// Runs `work` in a child under the process name `name` (at most 15 bytes), which ends with what it returns (0 to 255)
// and dies with this process. Waits for it, at most `seconds`; then it is killed (SIGKILL).
base::Result<ChildEnd> in_child(const char* name, int seconds, const std::function<int()>& work);

// As sys/attempt.h, for what no user id changes. Each returns the errno of its call, or 0 where it worked: a hole.
int try_socket();                          // AF_INET, SOCK_STREAM
int try_exec(const std::string& program);  // without arguments and environment
int try_rename(int from_fd, const std::string& from, int to_fd, const std::string& to);  // RENAME_NOREPLACE
int try_fork();
int try_new_call();  // openat2, which every kernel since 5.6 has and no policy allows

inline constexpr int kWorkingDirectory = -100;  // AT_FDCWD

}  // namespace intray::sys
