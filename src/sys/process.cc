#include "sys/process.h"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "limits.h"
#include "sys/call.h"

namespace intray::sys {
namespace {

constexpr std::size_t kAccountBufferBytes = 16 * 1024;  // of getpwuid_r and its like; glibc suggests 1 KiB
constexpr std::size_t kStatFieldsAfterName = 20;        // from field 3 (state) to field 22 (start time)

}  // namespace

std::uint32_t effective_uid() { return ::geteuid(); }
std::uint32_t effective_gid() { return ::getegid(); }
std::uint32_t supplementary_umask(std::uint32_t mask) { return ::umask(mask); }
int process_id() { return ::getpid(); }

std::string boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", limits::kProcFileBytesMax);
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return *text;
}

std::optional<std::uint64_t> start_time_ticks(int pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", limits::kProcFileBytesMax);
  if (!text) return std::nullopt;
  // Field 2 is the program's name in parentheses and may hold anything, parentheses and spaces included.
  std::size_t position = text->rfind(')');
  for (std::size_t field = 0; field < kStatFieldsAfterName && position != std::string::npos; ++field)
    position = text->find(' ', position + 1);
  if (position == std::string::npos) return std::nullopt;
  std::uint64_t ticks = 0;
  const char* const end = text->data() + text->size();
  if (std::from_chars(text->data() + position + 1, end, ticks).ec != std::errc{}) return std::nullopt;
  return ticks;
}

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<std::string> user_name(std::uint32_t uid) {
  std::string buffer(kAccountBufferBytes, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return std::nullopt;
  return std::string(found->pw_name);
}

std::optional<std::uint32_t> user_id(const std::string& name) {
  std::string buffer(kAccountBufferBytes, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return found->pw_uid;
}

base::Result<std::uint32_t> find_user(const std::string& name_or_number) {
  if (name_or_number.empty() || name_or_number.find_first_not_of("0123456789") != std::string::npos) {
    if (const auto uid = user_id(name_or_number)) return *uid;
    return base::fail(base::ErrorCode::kNotFound, "there is no user '" + name_or_number + "'");
  }
  constexpr std::uint32_t kNobodyAtAll = 0xffffffff;  // means "none" to the kernel
  std::uint32_t uid = 0;
  const char* const end = name_or_number.data() + name_or_number.size();
  const auto parsed = std::from_chars(name_or_number.data(), end, uid);
  if (parsed.ec != std::errc{} || parsed.ptr != end || uid == kNobodyAtAll)
    return base::fail(base::ErrorCode::kInvalid, name_or_number + " is no user id");
  return uid;
}

std::optional<std::uint32_t> group_id(const std::string& name) {
  std::string buffer(kAccountBufferBytes, '\0');
  group entry{};
  group* found = nullptr;
  if (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return found->gr_gid;
}

base::Result<void> lock_exclusive(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return base::fail(base::ErrorCode::kBusy, "locked by another process", errno);
    return fail_call(errno, "flock");
  }
  return {};
}

std::optional<int> reap(int pid) {
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended == 0) return std::nullopt;
    if (errno != EINTR) return W_EXITCODE(255, 0);  // no child of ours (any more)
  }
}

void send_signal(int pid, int signo) {
  if (pid <= 0) std::abort();  // 0 and below mean groups or everybody
  static_cast<void>(::kill(pid, signo));
}

}  // namespace intray::sys
