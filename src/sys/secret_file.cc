#include "sys/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

constexpr std::uint32_t kPermissionBits = 07777;

std::string octal(std::uint32_t mode) {
  std::string out = "0000";
  for (std::size_t i = 0; i < out.size(); ++i)
    out[out.size() - 1 - i] = static_cast<char>('0' + ((mode >> (3 * i)) & 7U));
  return out;
}

}  // namespace

base::Result<std::size_t> read_secret_file(const std::string& path, std::uint32_t owner_uid, std::span<char> buffer) {
  const Fd fd(make_call(fault::Op::kOpen, [&] {
    return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  }));
  if (!fd.valid() && errno == ELOOP) return base::fail(base::ErrorCode::kInvalid, path + ": is a symbolic link", ELOOP);
  if (!fd.valid()) return fail_call(errno, path);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_call(errno, path);
  if (!S_ISREG(info.st_mode)) return base::fail(base::ErrorCode::kInvalid, path + ": not a regular file");
  if (info.st_uid != owner_uid && info.st_uid != 0) {
    return base::fail(base::ErrorCode::kDenied, path + ": owned by uid " + std::to_string(info.st_uid) + ", not by " +
                                                    std::to_string(owner_uid) + " or root");
  }
  const std::uint32_t mode = info.st_mode & kPermissionBits;
  // A service manager that hands a credential over by an ACL leaves the file root's, and the ACL's mask where the
  // group's bits are: systemd on a tmpfs.
  const bool by_acl = info.st_uid == 0 && info.st_gid == 0 && mode == 0440;
  if (mode != 0400 && mode != 0600 && !by_acl)
    return base::fail(base::ErrorCode::kDenied, path + ": mode " + octal(mode) + ", must be 0400 or 0600");
  std::size_t got = 0;
  while (got < buffer.size()) {
    const ssize_t n =
        make_call(fault::Op::kRead, [&] { return ::read(fd.get(), buffer.data() + got, buffer.size() - got); });
    if (n < 0) return fail_call(errno, path + ": read");
    if (n == 0) return got;
    got += static_cast<std::size_t>(n);
  }
  return base::fail(base::ErrorCode::kInvalid, path + ": more than " + std::to_string(buffer.size() - 1) + " bytes");
}

}  // namespace intray::sys
