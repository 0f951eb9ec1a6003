#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sys/call.h"
#include "sys/dir.h"

namespace intray::sys {
namespace {

constexpr std::size_t kFirstReadBytes = 4096;  // most job files and /proc files end within it

}  // namespace

base::Result<std::string> read_up_to(int fd, std::size_t max_bytes) {
  std::string bytes;
  std::size_t got = 0;
  while (got < max_bytes) {
    bytes.resize(std::min(max_bytes, std::max(kFirstReadBytes, got * 2)));
    const ssize_t n = make_call(fault::Op::kRead, [&] { return ::read(fd, bytes.data() + got, bytes.size() - got); });
    if (n < 0) return fail_call(errno, "read");
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

base::Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const fault::Verdict verdict = fault::check(fault::Op::kWrite);
    if (verdict.error == EINTR) continue;
    if (verdict.error != 0) return fail_call(verdict.error, "write");
    const std::size_t size = verdict.half_write ? std::max<std::size_t>(1, bytes.size() / 2) : bytes.size();
    const ssize_t n = ::write(fd, bytes.data(), size);
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail_call(errno, "write");
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

base::Result<void> sync_file(int fd) {
  if (make_call(fault::Op::kSync, [&] { return ::fsync(fd); }) != 0) return fail_call(errno, "fsync");
  return {};
}

base::Result<void> sync_file_data(int fd) {
  if (make_call(fault::Op::kDataSync, [&] { return ::fdatasync(fd); }) != 0) return fail_call(errno, "fdatasync");
  return {};
}

base::Result<void> change_mode(int fd, std::uint32_t mode) {
  if (make_call(fault::Op::kChmod, [&] { return ::fchmod(fd, mode); }) != 0) return fail_call(errno, "fchmod");
  return {};
}

base::Result<void> change_owner(int fd, std::uint32_t uid, std::uint32_t gid) {
  if (make_call(fault::Op::kChown, [&] { return ::fchown(fd, uid, gid); }) != 0) return fail_call(errno, "fchown");
  return {};
}

base::Result<std::optional<char>> last_byte(int fd) {
  const FileInfo info = INTRAY_TRY(stat_fd(fd));
  if (info.size_bytes == 0) return std::nullopt;
  char byte = 0;
  const ssize_t n = make_call(fault::Op::kRead, [&] { return ::pread(fd, &byte, 1, info.size_bytes - 1); });
  if (n < 0) return fail_call(errno, "pread");
  return n == 0 ? std::nullopt : std::optional<char>(byte);
}

base::Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd(
      make_call(fault::Op::kOpen, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (!fd.valid()) return fail_call(errno, path);
  const FileInfo info = INTRAY_TRY(stat_fd(fd.get()));
  if (info.type != FileType::kRegular) return base::fail(base::ErrorCode::kInvalid, path + ": not a regular file");
  auto bytes = read_up_to(fd.get(), max_bytes + 1);
  if (!bytes) return std::unexpected(base::with_context(std::move(bytes).error(), path));
  if (bytes->size() > max_bytes)
    return base::fail(base::ErrorCode::kInvalid, path + ": more than " + std::to_string(max_bytes) + " bytes");
  return bytes;
}

}  // namespace intray::sys
