#include "base/log.h"
#include "inbox/intake.h"
#include "limits.h"

namespace intray::inbox {
namespace {

constexpr std::size_t kNamesPerStep = 1024;

}  // namespace

base::Result<std::vector<std::string>> remove_stale_tmp(const Inbox& inbox, base::WallTime now, base::Micros age) {
  std::vector<std::string> removed;
  std::int64_t strangers = 0;
  sys::DirStream stream = INTRAY_TRY(inbox.tmp.stream());
  while (removed.size() < limits::kStaleTmpRemovedMax) {
    const std::vector<std::string> names = INTRAY_TRY(stream.next(kNamesPerStep));
    if (names.empty()) break;
    for (const std::string& name : names) {
      const auto info = inbox.tmp.stat(name);
      if (!info || removed.size() >= limits::kStaleTmpRemovedMax)
        continue;  // renamed to new/ meanwhile: the usual case
      if (info->type != sys::FileType::kRegular) {
        if (strangers++ == 0)
          base::log(base::LogLevel::kWarn, "inbox.stranger_in_tmp",
                    {{"directory", inbox.tmp.path()}, {"name", name}, {"uid", static_cast<std::int64_t>(info->uid)}});
        continue;
      }
      if (now - info->changed_at <= age) continue;
      if (inbox.tmp.unlink(name)) removed.push_back(name);
    }
  }
  if (strangers > 1)
    base::log(base::LogLevel::kWarn, "inbox.strangers_in_tmp", {{"directory", inbox.tmp.path()}, {"count", strangers}});
  return removed;
}

}  // namespace intray::inbox
