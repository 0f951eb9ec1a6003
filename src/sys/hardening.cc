#include "sys/hardening.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

// Linux 6.3; not in Debian 12's headers.
constexpr int kSetMdwe = 65;
constexpr unsigned long kMdweRefuseExecGain = 1;

base::Result<std::vector<int>> numbers_in(const char* directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory), &::closedir);
  if (!stream) return fail_call(errno, directory);
  const int own = ::dirfd(stream.get());
  std::vector<int> numbers;
  while (const dirent* entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const char* const name = &entry->d_name[0];
    int number = 0;
    const char* const end = name + std::strlen(name);
    if (std::from_chars(name, end, number).ec == std::errc{} && number != own) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

void clear_environment() {
  // NOLINTBEGIN(concurrency-mt-unsafe): before any thread
  ::clearenv();
  ::setenv("TZ", "UTC0", 1);
  ::setenv("HOME", "/nonexistent", 1);
  ::tzset();
  // NOLINTEND(concurrency-mt-unsafe)
}

base::Result<void> close_all_but(const std::vector<int>& keep) {
  std::vector<int> kept = keep;
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int fd : kept) {
    if (fd < 3) continue;
    const auto number = static_cast<unsigned>(fd);
    if (number > from && ::close_range(from, number - 1, 0) != 0) return fail_call(errno, "close_range");
    from = number + 1;
  }
  if (::close_range(from, ~0U, 0) != 0) return fail_call(errno, "close_range");
  return {};
}

base::Result<void> check_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) {
      if (errno == EBADF)
        return base::fail(base::ErrorCode::kDenied, "descriptor " + std::to_string(fd) + " is not open");
      return fail_call(errno, "fstat");
    }
    if (S_ISDIR(info.st_mode))
      return base::fail(base::ErrorCode::kDenied, "descriptor " + std::to_string(fd) + " is a directory");
  }
  return {};
}

base::Result<int> pin_descriptors() {
  const std::vector<int> open_now = INTRAY_TRY(open_descriptors());
  const int highest = open_now.empty() ? STDERR_FILENO : open_now.back();
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return fail_call(errno, "/dev/null");
  while (true) {
    // The lowest free number; one above the highest says that no gap is left.
    Fd filler(::fcntl(null.get(), F_DUPFD_CLOEXEC, 0));
    if (!filler.valid()) return fail_call(errno, "F_DUPFD_CLOEXEC");
    if (filler.get() > highest) break;
    static_cast<void>(filler.release());
  }
  if (null.get() < highest) static_cast<void>(null.release());  // it fills a gap itself
  return highest;
}

base::Result<std::vector<int>> open_descriptors() { return numbers_in("/proc/self/fd"); }

base::Result<void> drop_privileges() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0) return base::fail(base::ErrorCode::kDenied, "running as root");
  if (::setresgid(gid, gid, gid) != 0) return fail_call(errno, "setresgid");
  if (::setresuid(uid, uid, uid) != 0) return fail_call(errno, "setresuid");
  static_cast<void>(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) return fail_call(errno, "capset");
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> left{};
  header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  if (::syscall(SYS_capget, &header, left.data()) != 0) return fail_call(errno, "capget");
  for (const auto& word : left)
    if ((word.effective | word.permitted | word.inheritable) != 0)
      return base::fail(base::ErrorCode::kDenied, "capabilities are left");
  return {};
}

base::Result<void> set_limits(const ResourceLimits& limits) {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) return fail_call(errno, "RLIMIT_CORE");
  if (limits.no_children && ::setrlimit(RLIMIT_NPROC, &none) != 0) return fail_call(errno, "RLIMIT_NPROC");
  if (limits.descriptors != 0) {
    rlimit now{};
    if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return fail_call(errno, "RLIMIT_NOFILE");
    now.rlim_cur = now.rlim_max = std::min<rlim_t>(now.rlim_max, limits.descriptors);
    if (::setrlimit(RLIMIT_NOFILE, &now) != 0) return fail_call(errno, "RLIMIT_NOFILE");
  }
  return {};
}

base::Result<bool> give_up_new_powers() {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail_call(errno, "PR_SET_DUMPABLE");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail_call(errno, "PR_SET_NO_NEW_PRIVS");
  return ::prctl(kSetMdwe, kMdweRefuseExecGain, 0, 0, 0) == 0;
}

base::Result<int> thread_count() {
  const std::vector<int> tasks = INTRAY_TRY(numbers_in("/proc/self/task"));
  return static_cast<int>(tasks.size());
}

void leave(int code) {
  std::fflush(nullptr);
  ::_exit(code);
}

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? std::string(&name.release[0]) : std::string("unknown");
}

}  // namespace intray::sys
