#include "confine/executor_plan.h"

#include <utility>

namespace intray::confine {
namespace {

namespace right = sys::landlock;

// A rename may give a file no right that it had not before, or it fails with EXDEV: every directory that a job's file
// comes from carries READ_FILE, because the lease does.
constexpr std::uint64_t kLeave = right::kRemoveFile | right::kRefer;
constexpr std::uint64_t kEnter = right::kMakeReg | right::kRefer;
constexpr std::uint64_t kRead = right::kReadFile | right::kReadDir;

std::uint64_t number(int fd) { return static_cast<std::uint64_t>(fd); }

}  // namespace

base::Result<Plan> executor_plan(const ExecutorPlaces& places) {
  Plan plan;
  const auto rule = [&](const sys::Dir& dir, std::uint64_t rights) {
    plan.paths.push_back({dir.fd(), rights, dir.path()});
  };
  rule(places.tmp, right::kReadDir | right::kRemoveFile);
  rule(places.fresh, kRead | kLeave);
  rule(places.slot, kRead | kLeave | kEnter);
  rule(places.cur, kRead | kLeave | kEnter);
  for (const sys::Dir* final_place : {&places.done, &places.failed, &places.rejected, &places.unknown})
    rule(*final_place, kEnter);
  rule(places.receipts, right::kReadFile | right::kWriteFile | right::kMakeReg);
  // The ledger has no rule: it was opened before.

  std::vector<std::string> read_only = places.read_directories;
  read_only.push_back(places.mirror);
  for (const std::string& path : read_only) {
    sys::Dir dir = INTRAY_TRY(sys::Dir::open(path));
    plan.paths.push_back({dir.fd(), path == places.mirror ? kRead : right::kReadFile, path});
    plan.only_for_rules.push_back(std::move(dir));
  }

  const auto name = [&](const char* text, std::uint64_t value) { plan.values.push_back({text, value}); };
  name("new", number(places.fresh.fd()));
  name("slot", number(places.slot.fd()));
  name("cur", number(places.cur.fd()));
  for (const sys::Dir* final_place : {&places.done, &places.failed, &places.rejected, &places.unknown})
    name("final", number(final_place->fd()));
  for (const sys::Dir* dir : {&places.tmp, &places.fresh, &places.slot}) name("removable", number(dir->fd()));
  name("receipts", number(places.receipts.fd()));
  name("file_mode", places.file_mode);
  name("epoll", number(places.epoll));
  name("timer", number(places.timer));
  name("channel", number(places.channel));
  return plan;
}

}  // namespace intray::confine
