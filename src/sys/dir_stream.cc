#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "limits.h"
#include "sys/call.h"
#include "sys/dir.h"

namespace intray::sys {

struct DirStream::State {
  Fd fd;
  std::string path;
  std::vector<char> buffer;
  std::size_t position = 0;
  std::size_t filled = 0;
  bool at_end = false;
};

DirStream::DirStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
DirStream::DirStream(DirStream&&) noexcept = default;
DirStream& DirStream::operator=(DirStream&&) noexcept = default;
DirStream::~DirStream() = default;

// An open file description of its own, so that two streams of one directory don't share an offset; "." instead of
// rewinding, because a confined process has no lseek.
base::Result<DirStream> Dir::stream() const {
  const int opened = make_call(
      fault::Op::kOpen, [&] { return ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); });
  if (opened < 0) return fail_call(errno, path_);
  auto state = std::make_unique<DirStream::State>();
  state->fd.reset(opened);
  state->path = path_;
  state->buffer.resize(limits::kDirBufferBytes);
  return DirStream(std::move(state));
}

base::Result<std::vector<std::string>> DirStream::next(std::size_t max) {
  State& s = *state_;
  std::vector<std::string> names;
  while (names.size() < max && !s.at_end) {
    if (s.position == s.filled) {
      const long n = make_call(fault::Op::kList,
                               [&] { return ::syscall(SYS_getdents64, s.fd.get(), s.buffer.data(), s.buffer.size()); });
      // ENOENT: the directory itself was removed while open; it has no more names.
      if (n < 0 && errno != ENOENT) {
        if (names.empty()) return fail_call(errno, s.path + ": getdents64");
        break;
      }
      s.position = 0;
      s.filled = n < 0 ? 0 : static_cast<std::size_t>(n);
      s.at_end = s.filled == 0;
      continue;
    }
    // The record is d_ino, d_off, d_reclen, d_type, d_name as in struct dirent64.
    const char* const record = s.buffer.data() + s.position;
    std::uint16_t record_bytes = 0;
    std::memcpy(&record_bytes, record + offsetof(dirent64, d_reclen), sizeof record_bytes);
    const char* const name = record + offsetof(dirent64, d_name);
    s.position += record_bytes;
    const std::string_view view(name, ::strnlen(name, record_bytes - offsetof(dirent64, d_name)));
    if (view != "." && view != "..") names.emplace_back(view);
  }
  return names;
}

base::Result<std::vector<std::string>> Dir::list() const {
  constexpr std::size_t kNamesPerStep = 1024;
  DirStream names = INTRAY_TRY(stream());
  std::vector<std::string> all;
  while (true) {
    std::vector<std::string> some = INTRAY_TRY(names.next(kNamesPerStep));
    if (some.empty()) break;
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace intray::sys
