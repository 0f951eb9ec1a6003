#include "sys/probe.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

static_assert(kWorkingDirectory == AT_FDCWD);
constexpr long kOpenat2 = 437;
constexpr std::int64_t kNanosPerMilli = 1'000'000;

int error_of(long answer) { return answer < 0 ? errno : 0; }

void sleep_ms(std::int64_t ms) {
  const timespec time{.tv_sec = 0, .tv_nsec = ms * kNanosPerMilli};
  static_cast<void>(::nanosleep(&time, nullptr));
}

}  // namespace

base::Result<ChildEnd> in_child(const char* name, int seconds, const std::function<int()>& work) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail_call(errno, "fork");
  if (child == 0) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    if (::getppid() != parent) ::_exit(127);
    static_cast<void>(::prctl(PR_SET_NAME, name));
    ::_exit(work());
  }
  constexpr int kLooksPerSecond = 500;
  for (int look = 0; look < seconds * kLooksPerSecond; ++look) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return fail_call(errno, "waitpid");
    if (ended == child) return WIFSIGNALED(status) ? ChildEnd{WTERMSIG(status), 0} : ChildEnd{0, WEXITSTATUS(status)};
    sleep_ms(1000 / kLooksPerSecond);
  }
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return ChildEnd{SIGKILL, 0};
}

int try_socket() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() ? 0 : errno;
}

int try_exec(const std::string& program) {
  std::array<char*, 1> nothing{nullptr};
  std::string copy = program;
  std::array<char*, 2> arguments{copy.data(), nullptr};
  return error_of(::execve(program.c_str(), arguments.data(), nothing.data()));
}

int try_rename(int from_fd, const std::string& from, int to_fd, const std::string& to) {
  return error_of(::renameat2(from_fd, from.c_str(), to_fd, to.c_str(), RENAME_NOREPLACE));
}

int try_fork() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0) return errno;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

int try_new_call() {
  struct {
    std::uint64_t flags = O_RDONLY | O_CLOEXEC;
    std::uint64_t mode = 0;
    std::uint64_t resolve = 0;
  } how;
  const Fd fd(static_cast<int>(::syscall(kOpenat2, AT_FDCWD, "/", &how, sizeof how)));
  return fd.valid() ? 0 : errno;
}

}  // namespace intray::sys
