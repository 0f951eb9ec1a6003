#include "inbox/taken_file.h"

#include <utility>

#include "base/escape.h"
#include "limits.h"

namespace intray::inbox {
namespace {

using base::ErrorCode;
using model::Reason;

constexpr auto kSizeMax_bytes = static_cast<std::int64_t>(limits::kJobFileBytesMax);

void refuse(TakenFile& file, Reason reason, const std::string& detail) {
  file.refused = reason;
  file.detail = base::escape(detail);
  file.bytes.clear();
}

// Open failed, and not for a reason of this moment: a symlink and a socket can't be opened at all.
void refuse_unopened(TakenFile& file, const sys::Dir& lease, const base::Error& error) {
  const auto info = lease.stat(file.name.str());
  if (info) file.owner_uid = info->uid;
  if (error.code == ErrorCode::kInvalid || (info && info->type != sys::FileType::kRegular))
    refuse(file, Reason::kBadFileType, "not a regular file");
  else
    refuse(file, Reason::kUnreadableFile, error.what);
}

void check_size(TakenFile& file, std::int64_t size_bytes) {
  if (size_bytes > kSizeMax_bytes)
    refuse(file, Reason::kOversized, "more than " + std::to_string(kSizeMax_bytes) + " bytes");
  else if (size_bytes == 0)
    refuse(file, Reason::kEmptyFile, "no content");
}

void check_info(TakenFile& file, const sys::FileInfo& info, const std::set<std::uint32_t>& requester_uids) {
  file.owner_uid = info.uid;
  if (info.type != sys::FileType::kRegular)
    refuse(file, Reason::kBadFileType, "not a regular file");
  else if (info.links != 1)
    refuse(file, Reason::kBadFileType, "has " + std::to_string(info.links) + " links");
  else if (!requester_uids.contains(info.uid))
    refuse(file, Reason::kBadFileOwner, "uid " + std::to_string(info.uid) + " is no requester");
  else
    check_size(file, info.size_bytes);
  if (!file.refused && !file.name.job) refuse(file, Reason::kBadFileName, "not <created>.<job_id>.json");
}

}  // namespace

base::Result<TakenFile> read_taken(const sys::Dir& lease, const LeaseName& name, std::string dropped_name,
                                   const std::set<std::uint32_t>& requester_uids, base::WallTime now) {
  TakenFile file{.name = name,
                 .dropped_name = std::move(dropped_name),
                 .owner_uid = 0,
                 .taken_at = now,
                 .counted_bytes = 0,
                 .bytes = {},
                 .refused = std::nullopt,
                 .detail = {}};
  const auto opened = lease.open_read(name.str());
  if (!opened) {
    if (opened.error().code == ErrorCode::kNotFound || opened.error().code == ErrorCode::kBusy)
      return std::unexpected(opened.error());
    refuse_unopened(file, lease, opened.error());
    return file;
  }
  const auto info = sys::stat_fd(opened->get());
  if (!info) {
    refuse(file, Reason::kUnreadableFile, info.error().what);
    return file;
  }
  check_info(file, *info, requester_uids);
  if (file.refused) return file;
  auto bytes = sys::read_up_to(opened->get(), limits::kJobFileBytesMax + 1);
  if (!bytes) {
    refuse(file, Reason::kUnreadableFile, bytes.error().what);
    return file;
  }
  // The owner may have written since fstat: what was read decides.
  file.bytes = std::move(*bytes);
  check_size(file, static_cast<std::int64_t>(file.bytes.size()));
  return file;
}

}  // namespace intray::inbox
