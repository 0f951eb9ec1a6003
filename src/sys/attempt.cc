#include "sys/attempt.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

constexpr const char* kAclName = "system.posix_acl_access";
constexpr std::size_t kAclBytesMax = 8192;  // 1,000 entries of 8 octets
constexpr int kProbeFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Attempt answer(int returned) { return returned >= 0 ? Attempt{true, 0} : Attempt{false, errno}; }

Attempt opened(int returned) {
  const Attempt out = answer(returned);
  const Fd closed(returned);
  return out;
}

}  // namespace

Attempt try_read(const std::string& path) { return opened(::open(path.c_str(), O_RDONLY | kProbeFlags)); }

Attempt try_write(const std::string& path) {
  struct stat info {};
  // Who may not even look is refused the rest too.
  if (::stat(path.c_str(), &info) != 0) return answer(-1);
  if (!S_ISDIR(info.st_mode)) return opened(::open(path.c_str(), O_WRONLY | kProbeFlags));
  const Attempt unnamed = opened(::open(path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (unnamed.done || (unnamed.error != EOPNOTSUPP && unnamed.error != EISDIR && unnamed.error != EINVAL))
    return unnamed;
  return answer(::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS));
}

Attempt try_remove(const std::string& path) { return answer(::unlink(path.c_str())); }

Attempt try_connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {false, ENAMETOOLONG};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return answer(-1);
  // NOLINTNEXTLINE(*-reinterpret-cast): the sockets interface
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {true, 0};
  // The kernel looks at the right to write to the socket before it looks who listens, and how.
  if (errno == ECONNREFUSED || errno == EAGAIN || errno == EPROTOTYPE) return {true, 0};
  return answer(-1);
}

Attempt try_tcp_socket() { return opened(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP)); }

Attempt try_signal(int pid) { return pid > 0 ? answer(::kill(pid, 0)) : Attempt{false, EINVAL}; }

Attempt try_trace(int pid) {
  const Attempt memory = opened(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (memory.done) return memory;
  const Attempt traced = answer(static_cast<int>(::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr)));
  return traced.done ? traced : Attempt{false, traced.error};
}

base::Result<void> clone_directory(const std::string& from, const std::string& to) {
  struct stat like {};
  if (::lstat(from.c_str(), &like) != 0) return fail_call(errno, from);
  if (!S_ISDIR(like.st_mode)) return base::fail(base::ErrorCode::kInvalid, from + ": not a directory");
  if (::mkdir(to.c_str(), 0700) != 0) return fail_call(errno, to);
  const Fd fd(::open(to.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return fail_call(errno, to);
  if (::fchown(fd.get(), like.st_uid, like.st_gid) != 0) return fail_call(errno, to);
  if (::fchmod(fd.get(), like.st_mode & 07777U) != 0) return fail_call(errno, to);
  std::array<char, kAclBytesMax> acl{};
  const ssize_t size = ::getxattr(from.c_str(), kAclName, acl.data(), acl.size());
  if (size > 0 && ::fsetxattr(fd.get(), kAclName, acl.data(), static_cast<std::size_t>(size), 0) != 0)
    return fail_call(errno, to + ": acl");
  return {};
}

base::Result<void> place_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail_call(errno, path);
  return {};
}

void remove_file(const std::string& path) { static_cast<void>(::unlink(path.c_str())); }
void remove_directory(const std::string& path) { static_cast<void>(::rmdir(path.c_str())); }
bool has_acl(const std::string& path) { return ::lgetxattr(path.c_str(), kAclName, nullptr, 0) > 0; }

}  // namespace intray::sys
