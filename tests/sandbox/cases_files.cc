// Files: reading, writing and making files that are none of a worker's business.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attempt.h"

namespace intray::test {
namespace {

constexpr int kReceiptFlags = O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
constexpr int kNewReceiptFlags = kReceiptFlags | O_CREAT | O_EXCL;
constexpr int kFileMode = 0600;

// Named reads: the filter lets any path be opened for reading, Landlock decides which.
struct Read {
  const char* name;
  const char* path;  // from root(), unless it starts with '/'
  Expected filter_only = Expected::kWorks;
  int flags = O_RDONLY | O_CLOEXEC;
};

const std::vector<Read>& reads() {
  static const std::vector<Read> list = {
      {"read /etc/passwd", "/etc/passwd"},
      {"read a stranger's file", "elsewhere/secret"},
      {"read the ledger by its path", "save/ledger/m"},
      {"read a job of another worker's lease", "save/lease/1/m"},
      {"read a file in done/", "save/done/m"},
      {"read a file in unknown/", "save/unknown/m"},
      {"read an unfinished file in tmp/", "save/tmp/m"},
      {"read /proc/self/maps", "/proc/self/maps"},
      {"read /proc/self/status", "/proc/self/status"},
      // Of a process that is not dumpable these belong to root.
      {"read /proc/self/mem", "/proc/self/mem", Expected::kRefused},
      {"read /proc/self/environ", "/proc/self/environ", Expected::kRefused},
      {"read /proc/cpuinfo", "/proc/cpuinfo"},
      {"read /sys/kernel", "/sys/kernel", Expected::kWorks, O_RDONLY | O_DIRECTORY | O_CLOEXEC},
      {"read /dev/urandom", "/dev/urandom"},
      {"list /", "/", Expected::kWorks, O_RDONLY | O_DIRECTORY | O_CLOEXEC},
      {"list a stranger's directory", "elsewhere", Expected::kWorks, O_RDONLY | O_DIRECTORY | O_CLOEXEC},
      {"list the ledger's directory", "save/ledger", Expected::kWorks, O_RDONLY | O_DIRECTORY | O_CLOEXEC},
      {"list done/", "save/done", Expected::kWorks, O_RDONLY | O_DIRECTORY | O_CLOEXEC},
      {"list the inbox itself", "save", Expected::kWorks, O_RDONLY | O_DIRECTORY | O_CLOEXEC},
      {"follow a symbolic link in the lease", "save/lease/0/link"},
  };
  return list;
}

// Opens for writing or making: the filter kills, whatever the path. `paths_only`: what Landlock alone says.
struct Write {
  const char* name;
  const char* path;
  int flags;
  std::optional<Expected> paths_only = Expected::kRefused;
};

const std::vector<Write>& writes() {
  using enum Expected;
  static const std::vector<Write> list = {
      {"write a stranger's file", "elsewhere/m", O_WRONLY},
      {"write the ledger by its path", "save/ledger/m", O_RDWR},
      {"write into git", "mirror.git/HEAD", O_WRONLY},
      {"write a job in the lease", "save/lease/0/m", O_WRONLY},
      {"append to a job in the lease", "save/lease/0/m", O_WRONLY | O_APPEND},
      {"write a job in new/", "save/new/m", O_RDWR},
      {"write a file in done/", "save/done/m", O_WRONLY},
      {"write /proc/self/mem", "/proc/self/mem", O_RDWR},
      {"write /proc/self/oom_score_adj", "/proc/self/oom_score_adj", O_WRONLY},
      {"write /dev/null", "/dev/null", O_WRONLY},
      {"truncate a job", "save/lease/0/m", O_RDONLY | O_TRUNC},
      {"truncate a stranger's file", "elsewhere/m", O_WRONLY | O_TRUNC},
      {"make a file elsewhere", "elsewhere/made", O_WRONLY | O_CREAT},
      {"make a file in git", "mirror.git/objects/made", O_WRONLY | O_CREAT | O_EXCL},
      {"make a file in new/", "save/new/made", O_WRONLY | O_CREAT | O_EXCL},
      {"make a file in the lease", "save/lease/0/made", O_WRONLY | O_CREAT | O_EXCL},
      {"make a file in done/", "save/done/made", O_WRONLY | O_CREAT | O_EXCL},
      {"open a place without reading it", "elsewhere", O_PATH, kWorks},
      {"open receipts without appending", "save/receipts/m", O_WRONLY, kWorks},
      {"open receipts for reading and writing", "save/receipts/m", O_RDWR | O_APPEND, kWorks},
      {"bypass the cache", "save/lease/0/m", O_RDONLY | O_DIRECT, std::nullopt},
      {"open without access time", "save/lease/0/m", O_RDONLY | O_NOATIME, kWorks},
      {"open synchronously", "save/lease/0/m", O_RDONLY | O_SYNC, kWorks},
  };
  return list;
}

// Through the one line of the filter that makes files, for receipts: what is behind the name it can't see.
void add_receipt_line_cases(Cases& cases) {
  using enum Expected;
  const auto make = [&](const char* name, const char* path) {
    cases.push_back({name,
                     [path](const World& w) {
                       return call(SYS_openat, w.receipts, w.path(path).c_str(), kNewReceiptFlags, kFileMode);
                     },
                     kRefused, kWorks, kRefused});
  };
  make("make a receipt elsewhere, by an absolute path", "elsewhere/made");
  make("make a receipt in git, by an absolute path", "mirror.git/objects/made");
  make("make a receipt in new/, by an absolute path", "save/new/made");
  make("make a receipt beside the ledger, by an absolute path", "save/ledger/made");
  cases.push_back(
      {"make a receipt in new/, by ../",
       [](const World& w) { return call(SYS_openat, w.receipts, "../new/made", kNewReceiptFlags, kFileMode); },
       kRefused, kWorks, kRefused});
  cases.push_back(
      {"append to a stranger's file, by an absolute path",
       [](const World& w) { return call(SYS_openat, w.receipts, w.path("elsewhere/m").c_str(), kReceiptFlags); },
       kRefused, kWorks, kRefused});
  cases.push_back({"append to a job, by ../",
                   [](const World& w) { return call(SYS_openat, w.receipts, "../lease/0/m", kReceiptFlags); }, kRefused,
                   kWorks, kRefused});
  cases.push_back({"make a receipt that others can read",
                   [](const World& w) { return call(SYS_openat, w.receipts, "made", kNewReceiptFlags, 0666); }, kKilled,
                   kKilled, kWorks});
  cases.push_back({"make a receipt with the set-uid bit",
                   [](const World& w) { return call(SYS_openat, w.receipts, "made", kNewReceiptFlags, 04600); },
                   kKilled, kKilled, kWorks});
  cases.push_back({"make a receipt's name in the lease",
                   [](const World& w) { return call(SYS_openat, w.slot, "made", kNewReceiptFlags, kFileMode); },
                   kKilled, kKilled, kRefused});
  cases.push_back({"make a receipt's name in new/",
                   [](const World& w) { return call(SYS_openat, w.fresh, "made", kNewReceiptFlags, kFileMode); },
                   kKilled, kKilled, kRefused});
  cases.push_back({"make a nameless file",
                   [](const World& w) { return call(SYS_openat, w.receipts, ".", O_RDWR | O_TMPFILE, kFileMode); }});
  cases.push_back({"truncate a receipt",
                   [](const World& w) -> long {
                     const long fd = call(SYS_openat, w.receipts, "m", kReceiptFlags);
                     return fd < 0 ? 0 : call(SYS_ftruncate, fd, 0);
                   },
                   kRefused, kWorks, kRefused, true});
}

}  // namespace

void add_file_cases(Cases& cases) {
  using enum Expected;
  for (const Read& read : reads())
    cases.push_back({read.name,
                     [&read](const World& w) {
                       const std::string path = read.path[0] == '/' ? read.path : w.path(read.path);
                       return call(SYS_openat, AT_FDCWD, path.c_str(), read.flags);
                     },
                     kRefused, read.filter_only, kRefused});
  for (const Write& write : writes())
    cases.push_back({write.name,
                     [&write](const World& w) {
                       const std::string path = write.path[0] == '/' ? write.path : w.path(write.path);
                       return call(SYS_openat, AT_FDCWD, path.c_str(), write.flags | O_CLOEXEC, kFileMode);
                     },
                     kKilled, kKilled, write.paths_only});
  add_receipt_line_cases(cases);

  const auto by_path = [&](const char* name, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act), kRefused, kWorks, kRefused});
  };
  by_path("leave the lease by ../",
          [](const World& w) { return call(SYS_openat, w.slot, "../../../elsewhere/secret", O_RDONLY); });
  by_path("leave git by ../",
          [](const World& w) { return call(SYS_openat, w.mirror, "../elsewhere/secret", O_RDONLY); });
  by_path("leave a pinned directory by an absolute path", [](const World& w) {
    return call(SYS_openat, w.slot, w.path("elsewhere/secret").c_str(), O_RDONLY | O_NOFOLLOW);
  });
  by_path("open through a directory that was open before",
          [](const World& w) { return call(SYS_openat, w.elsewhere, "secret", O_RDONLY); });
  by_path("open the ledger once more through /proc", [](const World& w) {
    return call(SYS_openat, AT_FDCWD, ("/proc/self/fd/" + std::to_string(w.ledger)).c_str(), O_RDONLY);
  });
  by_path("open the root through /proc",
          [](const World&) { return call(SYS_openat, AT_FDCWD, "/proc/self/root/etc/passwd", O_RDONLY); });
  cases.push_back({"follow a link where links are refused",
                   [](const World& w) { return call(SYS_openat, w.slot, "link", O_RDONLY | O_NOFOLLOW); }, kFails,
                   kFails, kFails});

  const auto killed = [&](const char* name, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act)});
  };
  killed("open() of old", [](const World& w) { return call(SYS_open, w.path("save/new/m").c_str(), O_RDONLY); });
  killed("creat()", [](const World& w) { return call(SYS_creat, w.path("elsewhere/made").c_str(), kFileMode); });
  killed("openat with bit 32 in the flags",
         [](const World& w) { return call(SYS_openat, w.slot, "m", O_RDONLY | kBit32); });
  killed("open by handle", [](const World& w) { return call(SYS_open_by_handle_at, w.slot, nullptr, O_RDONLY); });
  killed("make a handle", [](const World& w) { return call(SYS_name_to_handle_at, w.slot, "m", nullptr, nullptr, 0); });
  killed("truncate by path", [](const World& w) { return call(SYS_truncate, w.path("save/new/m").c_str(), 0); });
  killed("fallocate", [](const World& w) { return call(SYS_fallocate, w.ledger, 0, 0, 1); });
  killed("copy_file_range",
         [](const World& w) { return call(SYS_copy_file_range, w.job, nullptr, w.ledger, nullptr, 1, 0); });
  killed("sendfile", [](const World& w) { return call(SYS_sendfile, w.live, w.job, nullptr, 1); });
  killed("splice", [](const World& w) { return call(SYS_splice, w.job, nullptr, w.live, nullptr, 1, 0); });
  killed("tee", [](const World& w) { return call(SYS_tee, w.job, w.live, 1, 0); });
  killed("vmsplice", [](const World& w) { return call(SYS_vmsplice, w.live, nullptr, 0, 0); });
  cases.push_back({"openat2",
                   [](const World& w) {
                     const std::array<std::uint64_t, 3> how{O_RDONLY, 0, 0};
                     return call(SYS_openat2, w.slot, "m", how.data(), sizeof how);
                   },
                   kNoSuchCall, kNoSuchCall, kWorks});
}

}  // namespace intray::test
