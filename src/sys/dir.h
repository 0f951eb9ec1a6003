// Purpose:    files reached only relative to an open directory, by one-component names that are never followed.
// Trust:      names may come from an untrusted party; callers pass only names that hold no slash (asserted).
// Thread use: one thread per object.
// Durability: nothing here is durable until sync() of the directory (for names) or of the file (for content) returned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sys/fd.h"

namespace intray::sys {

enum class FileType { kRegular, kDirectory, kSymlink, kFifo, kSocket, kDevice };

struct FileInfo {
  FileType type = FileType::kRegular;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;  // permission bits, 07777
  std::int64_t size_bytes = 0;
  base::WallTime modified_at;  // the owner can set it to anything
  base::WallTime changed_at;   // the kernel's: last change of content, mode, links or name
};

// fstat of an open descriptor.
base::Result<FileInfo> stat_fd(int fd);
// lstat of an admin's absolute path, "/" excepted. kNotFound: it or its folder is not there.
base::Result<FileInfo> stat_path(const std::string& path);

// A stream over the names of a directory, in the kernel's order, without "." and "..". It is read once, forward;
// names added or moved meanwhile may or may not show. Holds at most one getdents64 buffer.
class DirStream {
 public:
  DirStream(DirStream&&) noexcept;
  DirStream& operator=(DirStream&&) noexcept;
  ~DirStream();
  // Up to max further names; an empty vector is the end.
  base::Result<std::vector<std::string>> next(std::size_t max);

 private:
  friend class Dir;
  struct State;
  explicit DirStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Dir {
 public:
  // O_RDONLY|O_DIRECTORY|O_NOFOLLOW|O_CLOEXEC. The path is the admin's, not a requester's.
  static base::Result<Dir> open(const std::string& path);
  base::Result<Dir> open_subdir(const std::string& name) const;
  base::Result<Dir> duplicate() const;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }  // for messages only

  // fstatat without following. kNotFound: vanished.
  base::Result<FileInfo> stat(const std::string& name) const;
  base::Result<FileInfo> stat_self() const;
  // Whether the directory has an ACL beyond its mode, and whether it hands one down to what is made in it.
  base::Result<bool> has_acl() const;
  base::Result<bool> has_default_acl() const;
  // O_RDONLY|O_NOFOLLOW|O_NONBLOCK|O_CLOEXEC|O_NOCTTY. A symlink fails with kInvalid (ELOOP). Never blocks.
  base::Result<Fd> open_read(const std::string& name) const;
  // O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_CLOEXEC; the file has exactly `mode`, by fchmod only where the umask or a
  // default ACL gave it another. kExists: the name is taken.
  base::Result<Fd> create(const std::string& name, std::uint32_t mode) const;
  // O_WRONLY|O_APPEND|O_CREAT|O_NOFOLLOW|O_CLOEXEC; a new file has exactly `mode`, as with create(). Must be a
  // regular file.
  base::Result<Fd> open_append(const std::string& name, std::uint32_t mode) const;
  // O_RDWR|O_CREAT|O_NOFOLLOW|O_CLOEXEC; lock and holder files.
  base::Result<Fd> open_rw(const std::string& name, std::uint32_t mode) const;
  // renameat2(RENAME_NOREPLACE). kNotFound: the source vanished; kExists: the target is taken; nothing moved in both.
  base::Result<void> move(const std::string& name, const Dir& to, const std::string& to_name) const;
  base::Result<void> unlink(const std::string& name) const;
  base::Result<void> make_subdir(const std::string& name, std::uint32_t mode) const;
  base::Result<void> sync() const;  // fsync: names in this directory are durable
  base::Result<DirStream> stream() const;
  // All names at once, sorted. For small directories and tools.
  base::Result<std::vector<std::string>> list() const;
  // Which mount `name` is on; nullopt where the kernel doesn't tell. Not after lock-down.
  std::optional<std::uint64_t> mount_id(const std::string& name) const;
  std::optional<std::uint64_t> mount_id_self() const;

 private:
  // `access`: O_WRONLY|O_APPEND or O_RDWR. An existing file keeps its mode; anything but a regular file is kInvalid.
  base::Result<Fd> open_or_create(const std::string& name, int access, std::uint32_t mode) const;
  Dir(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::string path_;
};

// Reads to the end or to max_bytes, whichever comes first, from the present offset. Never blocks on a regular file.
base::Result<std::string> read_up_to(int fd, std::size_t max_bytes);
// Writes all of it (restarts short writes). On error an unknown part is written.
base::Result<void> write_all(int fd, std::string_view bytes);
base::Result<void> sync_file(int fd);                                           // fsync
base::Result<void> sync_file_data(int fd);                                      // fdatasync
base::Result<void> change_mode(int fd, std::uint32_t mode);                     // fchmod
base::Result<void> change_owner(int fd, std::uint32_t uid, std::uint32_t gid);  // fchown
// The last byte of a readable regular file; nullopt where it is empty. The offset doesn't move.
base::Result<std::optional<char>> last_byte(int fd);
// Whole files by an admin's path (configuration, credentials): regular, at most max_bytes, else kInvalid.
base::Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

// The filesystem a directory is on, by name ("ext4", "nfs", "tmpfs", …, "unknown:0x…"), and whether it is one of the
// network filesystems on which rename, flock and inotify can't be relied on.
struct Filesystem {
  std::string name;
  bool is_network = false;
  std::optional<bool> has_journal;  // ext4: from /proc/fs/jbd2 or mount data where it can be told; nullopt: not known
  std::uint64_t device = 0;
};
base::Result<Filesystem> filesystem_of(const Dir& dir);

}  // namespace intray::sys
