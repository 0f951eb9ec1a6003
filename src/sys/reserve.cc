#include "sys/reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include "sys/call.h"

namespace intray::sys {

base::Result<Fd> preallocate(const Dir& dir, const std::string& name, std::int64_t bytes, std::uint32_t mode) {
  Fd file = INTRAY_TRY(dir.open_rw(name, mode));
  const FileInfo info = INTRAY_TRY(stat_fd(file.get()));
  if (info.type != FileType::kRegular)
    return base::fail(base::ErrorCode::kInvalid, dir.path() + "/" + name + ": not a regular file");
  if (info.size_bytes >= bytes) return file;
  // It returns its error, and restarts by itself; it writes where the filesystem knows no other way.
  const fault::Verdict verdict = fault::check(fault::Op::kWrite);
  const int failed = verdict.error != 0 ? verdict.error : ::posix_fallocate(file.get(), 0, bytes);
  if (failed != 0) {
    // Half a reserve would only take room from others.
    static_cast<void>(dir.unlink(name));
    return fail_call(failed, dir.path() + "/" + name);
  }
  INTRAY_TRY(sync_file(file.get()));
  INTRAY_TRY(dir.sync());
  return file;
}

bool give_up(const Fd& file) {
  if (!file.valid()) return false;
  const auto info = stat_fd(file.get());
  return info && info->size_bytes > 0 && ::ftruncate(file.get(), 0) == 0;
}

}  // namespace intray::sys
