#include "sys/race.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "limits.h"
#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE

std::string from_name(int file) { return "from." + std::to_string(file); }
std::string to_name(int file, int racer) { return "to." + std::to_string(file) + "." + std::to_string(racer); }

// One racer: waits for the start, then takes what it can. Reports how many it got.
[[noreturn]] void run(int dir, int start, int report, int files, int racer) {
  ::alarm(limits::kProbeSecondsMax);
  char go = 0;
  [[maybe_unused]] const ssize_t came = ::read(start, &go, 1);
  int won = 0;
  for (int i = 0; i < files; ++i)
    if (::renameat2(dir, from_name(i).c_str(), dir, to_name(i, racer).c_str(), kNoReplace) == 0) ++won;
  [[maybe_unused]] const ssize_t sent = ::write(report, &won, sizeof won);
  ::_exit(0);
}

}  // namespace

base::Result<RaceResult> race_renames(const std::string& dir, int files, int racers) {
  const std::string place = dir + "/race";
  if (::mkdir(place.c_str(), 0700) != 0) return fail_call(errno, place);
  const Fd folder(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return fail_call(errno, place);
  for (int i = 0; i < files; ++i)
    Fd(::openat(folder.get(), from_name(i).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)).reset();

  std::array<int, 2> start{-1, -1};
  std::array<int, 2> report{-1, -1};
  RaceResult out{.files = files};
  if (::pipe2(start.data(), O_CLOEXEC) != 0) return fail_call(errno, "pipe2");
  const Fd start_read(start[0]);
  Fd start_write(start[1]);
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return fail_call(errno, "pipe2");
  const Fd report_read(report[0]);
  Fd report_write(report[1]);
  std::vector<pid_t> children;
  for (int racer = 0; racer < racers; ++racer) {
    const pid_t child = ::fork();
    if (child == 0) {
      start_write.reset();  // the end of the file is the start
      run(folder.get(), start_read.get(), report_write.get(), files, racer);
    }
    if (child > 0) children.push_back(child);
  }
  report_write.reset();
  start_write.reset();
  int won = 0;
  while (true) {
    const ssize_t n = ::read(report_read.get(), &won, sizeof won);
    if (n < 0 && errno == EINTR) continue;
    if (n != sizeof won) break;
    out.won += won;
  }
  for (const pid_t child : children)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  for (int i = 0; i < files; ++i) {
    static_cast<void>(::unlinkat(folder.get(), from_name(i).c_str(), 0));
    for (int racer = 0; racer < racers; ++racer)
      if (::unlinkat(folder.get(), to_name(i, racer).c_str(), 0) == 0) ++out.arrived;
  }
  static_cast<void>(::rmdir(place.c_str()));
  if (static_cast<int>(children.size()) != racers) return base::fail(base::ErrorCode::kBusy, "fork: no room");
  return out;
}

}  // namespace intray::sys
