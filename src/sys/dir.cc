#include "sys/dir.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "limits.h"
#include "sys/call.h"

namespace intray::sys {
namespace {

constexpr int kOpenDir = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::int64_t kNanosPerMicro = 1000;
constexpr std::int64_t kMicrosPerSecond = 1'000'000;

// A name that could leave its directory here is our bug, never an input error: names are parsed before.
const char* one_component(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.contains('/') || name.contains('\0')) std::abort();
  return name.c_str();
}

FileType type_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return FileType::kRegular;
    case S_IFDIR: return FileType::kDirectory;
    case S_IFLNK: return FileType::kSymlink;
    case S_IFIFO: return FileType::kFifo;
    case S_IFSOCK: return FileType::kSocket;
    default: return FileType::kDevice;
  }
}

// Times are the file system's, and some let a user set them: what doesn't fit is held at the ends.
base::WallTime time_of(const timespec& t) {
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / kMicrosPerSecond - 1;
  const std::int64_t seconds = std::clamp<std::int64_t>(t.tv_sec, -kSecondsMax, kSecondsMax);
  return base::from_us(seconds * kMicrosPerSecond + t.tv_nsec / kNanosPerMicro);
}

FileInfo info_of(const struct stat& st) {
  return FileInfo{.type = type_of(st.st_mode),
                  .device = st.st_dev,
                  .inode = st.st_ino,
                  .links = st.st_nlink,
                  .uid = st.st_uid,
                  .gid = st.st_gid,
                  .mode = st.st_mode & 07777U,
                  .size_bytes = st.st_size,
                  .modified_at = time_of(st.st_mtim),
                  .changed_at = time_of(st.st_ctim)};
}

// An ACL by its attribute's name: whether there is one. Filesystems without ACLs have none.
base::Result<bool> has_attribute(int fd, const char* name) {
  if (::fgetxattr(fd, name, nullptr, 0) >= 0) return true;
  if (errno == ENODATA || errno == EOPNOTSUPP) return false;
  return fail_call(errno, name);
}

int open_at(int dir, const char* name, int flags, std::uint32_t mode = 0) {
  return make_call(fault::Op::kOpen, [&] { return ::openat(dir, name, flags, mode); });
}

// The umask and a default ACL cut the mode that openat is given. Under our own umask (027) they don't cut what we ask
// for, so that a process that may not call fchmod any more can make files all the same.
base::Result<void> make_mode_exact(int fd, std::uint32_t mode) {
  if (INTRAY_TRY(stat_fd(fd)).mode == mode) return {};
  return change_mode(fd, mode);
}

}  // namespace

base::Result<FileInfo> stat_fd(int fd) {
  struct stat st {};
  if (make_call(fault::Op::kStat, [&] { return ::fstat(fd, &st); }) != 0) return fail_call(errno, "fstat");
  return info_of(st);
}

base::Result<Dir> Dir::open(const std::string& path) {
  Fd fd(open_at(AT_FDCWD, path.c_str(), kOpenDir));
  if (!fd.valid()) return fail_call(errno, path);
  return Dir(std::move(fd), path);
}

base::Result<Dir> Dir::open_subdir(const std::string& name) const {
  Fd fd(open_at(fd_.get(), one_component(name), kOpenDir));
  if (!fd.valid()) return fail_call(errno, path_ + "/" + name);
  return Dir(std::move(fd), path_ + "/" + name);
}

base::Result<FileInfo> stat_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash + 1 == path.size())
    return base::fail(base::ErrorCode::kInvalid, path + ": not an absolute path of a file or directory");
  const Dir parent = INTRAY_TRY(Dir::open(slash == 0 ? "/" : path.substr(0, slash)));
  return parent.stat(path.substr(slash + 1));
}

base::Result<Dir> Dir::duplicate() const {
  Fd fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3));
  if (!fd.valid()) return fail_call(errno, path_);
  return Dir(std::move(fd), path_);
}

base::Result<FileInfo> Dir::stat(const std::string& name) const {
  struct stat st {};
  const char* const raw = one_component(name);
  if (make_call(fault::Op::kStat, [&] { return ::fstatat(fd_.get(), raw, &st, AT_SYMLINK_NOFOLLOW); }) != 0)
    return fail_call(errno, path_ + "/" + name);
  return info_of(st);
}

base::Result<FileInfo> Dir::stat_self() const { return stat_fd(fd_.get()); }

base::Result<bool> Dir::has_acl() const { return has_attribute(fd_.get(), "system.posix_acl_access"); }
base::Result<bool> Dir::has_default_acl() const { return has_attribute(fd_.get(), "system.posix_acl_default"); }

base::Result<Fd> Dir::open_read(const std::string& name) const {
  Fd fd(open_at(fd_.get(), one_component(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) return fail_call(errno, path_ + "/" + name);
  return fd;
}

base::Result<Fd> Dir::create(const std::string& name, std::uint32_t mode) const {
  Fd fd(open_at(fd_.get(), one_component(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd.valid()) return fail_call(errno, path_ + "/" + name);
  if (auto changed = make_mode_exact(fd.get(), mode); !changed) {
    // What nobody has written to yet must not keep the name taken.
    static_cast<void>(unlink(name));
    return std::unexpected(base::with_context(std::move(changed).error(), path_ + "/" + name));
  }
  return fd;
}

base::Result<Fd> Dir::open_or_create(const std::string& name, int access, std::uint32_t mode) const {
  // O_NONBLOCK: a FIFO of that name must fail instead of waiting for a reader. Regular files don't notice.
  const int flags = access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const char* const raw = one_component(name);
  bool created = false;
  Fd fd(open_at(fd_.get(), raw, flags));
  if (!fd.valid() && errno == ENOENT) {
    fd.reset(open_at(fd_.get(), raw, flags | O_CREAT | O_EXCL, mode));
    created = fd.valid();
    if (!created && errno == EEXIST) fd.reset(open_at(fd_.get(), raw, flags));  // another process was faster
  }
  if (!fd.valid()) return fail_call(errno, path_ + "/" + name);
  if (created) {
    if (auto changed = make_mode_exact(fd.get(), mode); !changed)
      return std::unexpected(base::with_context(std::move(changed).error(), path_ + "/" + name));
    return fd;
  }
  const FileInfo info = INTRAY_TRY(stat_fd(fd.get()));
  if (info.type != FileType::kRegular)
    return base::fail(base::ErrorCode::kInvalid, path_ + "/" + name + ": not a regular file");
  return fd;
}

base::Result<Fd> Dir::open_append(const std::string& name, std::uint32_t mode) const {
  return open_or_create(name, O_WRONLY | O_APPEND, mode);
}

base::Result<Fd> Dir::open_rw(const std::string& name, std::uint32_t mode) const {
  return open_or_create(name, O_RDWR, mode);
}

base::Result<void> Dir::move(const std::string& name, const Dir& to, const std::string& to_name) const {
  const char* const from_raw = one_component(name);
  const char* const to_raw = one_component(to_name);
  if (make_call(fault::Op::kRename,
                [&] { return ::renameat2(fd_.get(), from_raw, to.fd_.get(), to_raw, RENAME_NOREPLACE); }) != 0)
    return fail_call(errno, path_ + "/" + name + " to " + to.path_ + "/" + to_name);
  return {};
}

base::Result<void> Dir::unlink(const std::string& name) const {
  const char* const raw = one_component(name);
  if (make_call(fault::Op::kUnlink, [&] { return ::unlinkat(fd_.get(), raw, 0); }) != 0)
    return fail_call(errno, path_ + "/" + name);
  return {};
}

base::Result<void> Dir::make_subdir(const std::string& name, std::uint32_t mode) const {
  const char* const raw = one_component(name);
  // mkdir honours neither the umask's absence nor setgid; both are said again once the directory is open.
  if (make_call(fault::Op::kMakeDir, [&] { return ::mkdirat(fd_.get(), raw, 0700); }) != 0)
    return fail_call(errno, path_ + "/" + name);
  const Dir made = INTRAY_TRY(open_subdir(name));
  return change_mode(made.fd(), mode);
}

base::Result<void> Dir::sync() const {
  if (make_call(fault::Op::kSync, [&] { return ::fsync(fd_.get()); }) != 0) return fail_call(errno, path_ + ": fsync");
  return {};
}

}  // namespace intray::sys
