// Names and attributes: moving, linking, removing, changing what a file is.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attempt.h"

namespace intray::test {
namespace {

long rename_to(int from, const std::string& name, int to, const std::string& new_name, unsigned flags) {
  return call(SYS_renameat2, from, name.c_str(), to, new_name.c_str(), flags);
}

void add_renames(Cases& cases) {
  using enum Expected;
  // The pair of directories is one that the filter lets through; the names leave them.
  const auto by_path = [&](const char* name, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act), kRefused, kWorks, kRefused});
  };
  by_path("move a job out of the tree",
          [](const World& w) { return rename_to(w.slot, "m", w.slot, w.path("elsewhere/got"), RENAME_NOREPLACE); });
  by_path("move a job out of the tree by ../",
          [](const World& w) { return rename_to(w.slot, "m", w.slot, "../../../elsewhere/got", RENAME_NOREPLACE); });
  by_path("move a stranger's file into the lease", [](const World& w) {
    return rename_to(w.slot, w.path("elsewhere/secret"), w.slot, "got", RENAME_NOREPLACE);
  });
  by_path("move the ledger away",
          [](const World& w) { return rename_to(w.slot, w.path("save/ledger/m"), w.slot, "got", RENAME_NOREPLACE); });
  by_path("move a job beside the ledger",
          [](const World& w) { return rename_to(w.slot, "m", w.slot, w.path("save/ledger/m-wal"), RENAME_NOREPLACE); });
  by_path("move a ref of git",
          [](const World& w) { return rename_to(w.slot, w.path("mirror.git/HEAD"), w.slot, "got", RENAME_NOREPLACE); });
  by_path("move a job into git", [](const World& w) {
    return rename_to(w.slot, "m", w.slot, w.path("mirror.git/objects/got"), RENAME_NOREPLACE);
  });
  by_path("move a receipt away",
          [](const World& w) { return rename_to(w.slot, w.path("save/receipts/m"), w.slot, "got", RENAME_NOREPLACE); });
  by_path("take a job out of done/",
          [](const World& w) { return rename_to(w.slot, w.path("save/done/m"), w.slot, "got", RENAME_NOREPLACE); });
  by_path("move a directory", [](const World& w) {
    return rename_to(w.slot, w.path("mirror.git/objects"), w.slot, "got", RENAME_NOREPLACE);
  });

  const auto pair = [&](const char* name, int World::*from, int World::*to, unsigned flags,
                        std::optional<Expected> paths_only) {
    cases.push_back({name, [=](const World& w) { return rename_to(w.*from, "m", w.*to, "got", flags); }, kKilled,
                     kKilled, paths_only});
  };
  pair("skip the lease: new/ to done/", &World::fresh, &World::done, RENAME_NOREPLACE, kWorks);
  pair("skip the lease: new/ to cur/", &World::fresh, &World::cur, RENAME_NOREPLACE, kWorks);
  pair("give a job back: lease to new/", &World::slot, &World::fresh, RENAME_NOREPLACE, kRefused);
  pair("revive a job: done/ to the lease", &World::done, &World::slot, RENAME_NOREPLACE, kRefused);
  pair("claim from tmp/", &World::tmp, &World::slot, RENAME_NOREPLACE, kRefused);
  pair("claim into another worker's lease", &World::fresh, &World::slot_1, RENAME_NOREPLACE, kRefused);
  pair("rename over a name in use", &World::slot, &World::cur, 0, kWorks);
  pair("exchange two files", &World::slot, &World::cur, RENAME_EXCHANGE, kFails);
  pair("leave a whiteout", &World::slot, &World::cur, RENAME_NOREPLACE | RENAME_WHITEOUT, std::nullopt);
  cases.push_back({"renameat2 with bit 32 in the flags", [](const World& w) {
                     return call(SYS_renameat2, w.slot, "m", w.cur, "got", RENAME_NOREPLACE | kBit32);
                   }});
  cases.push_back({"renameat2 with bit 32 in a directory", [](const World& w) {
                     return call(SYS_renameat2, w.done | kBit32, "m", w.slot, "got", RENAME_NOREPLACE);
                   }});
  cases.push_back({"rename()", [](const World& w) {
                     return call(SYS_rename, w.path("save/lease/0/m").c_str(), w.path("save/cur/got").c_str());
                   }});
  cases.push_back({"renameat()", [](const World& w) { return call(SYS_renameat, w.slot, "m", w.cur, "got"); }, kKilled,
                   kKilled, kWorks});
}

void add_removals(Cases& cases) {
  using enum Expected;
  const auto by_path = [&](const char* name, const char* path) {
    cases.push_back({name, [path](const World& w) { return call(SYS_unlinkat, w.slot, w.path(path).c_str(), 0); },
                     kRefused, kWorks, kRefused});
  };
  by_path("remove a stranger's file", "elsewhere/m");
  by_path("remove the ledger", "save/ledger/m");
  by_path("remove a receipt", "save/receipts/m");
  by_path("remove a finished job", "save/done/m");
  by_path("remove a ref of git", "mirror.git/HEAD");
  by_path("remove a job of another worker", "save/lease/1/m");
  cases.push_back({"remove a finished job by its directory",
                   [](const World& w) { return call(SYS_unlinkat, w.done, "m", 0); }, kKilled, kKilled, kRefused});
  cases.push_back({"remove a waiting job", [](const World& w) { return call(SYS_unlinkat, w.cur, "m", 0); }, kKilled,
                   kKilled, kWorks});
  cases.push_back(
      {"remove a directory",
       [](const World& w) { return call(SYS_unlinkat, w.slot, w.path("mirror.git/objects").c_str(), AT_REMOVEDIR); },
       kKilled, kKilled, kRefused});
  cases.push_back({"unlink()", [](const World& w) { return call(SYS_unlink, w.path("save/lease/0/m").c_str()); },
                   kKilled, kKilled, kWorks});
  cases.push_back({"rmdir()", [](const World& w) { return call(SYS_rmdir, w.path("mirror.git/objects").c_str()); },
                   kKilled, kKilled, kRefused});
}

void add_making(Cases& cases) {
  using enum Expected;
  const auto killed = [&](const char* name, std::optional<Expected> paths_only, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act), kKilled, kKilled, paths_only});
  };
  killed("hard link out of the tree", kRefused,
         [](const World& w) { return call(SYS_linkat, w.slot, "m", w.slot, w.path("elsewhere/got").c_str(), 0); });
  killed("hard link of the ledger into the lease", kRefused,
         [](const World& w) { return call(SYS_linkat, w.slot, w.path("save/ledger/m").c_str(), w.slot, "got", 0); });
  killed("hard link within the lease", kWorks,
         [](const World& w) { return call(SYS_linkat, w.slot, "m", w.slot, "got", 0); });
  killed("link()", kRefused,
         [](const World& w) { return call(SYS_link, w.path("save/new/m").c_str(), w.path("elsewhere/got").c_str()); });
  killed("symlinkat()", kRefused, [](const World& w) { return call(SYS_symlinkat, "/etc", w.slot, "got"); });
  killed("symlink()", kRefused,
         [](const World& w) { return call(SYS_symlink, "/etc", w.path("save/cur/got").c_str()); });
  killed("mkdirat()", kRefused, [](const World& w) { return call(SYS_mkdirat, w.slot, "got", 0700); });
  killed("mkdir()", kRefused, [](const World& w) { return call(SYS_mkdir, w.path("elsewhere/got").c_str(), 0700); });
  killed("a FIFO", kRefused, [](const World& w) { return call(SYS_mknodat, w.slot, "got", S_IFIFO | 0600, 0); });
  killed("a device", kRefused, [](const World& w) { return call(SYS_mknodat, w.slot, "got", S_IFBLK | 0600, 0x801); });
  killed("mknod()", kRefused,
         [](const World& w) { return call(SYS_mknod, w.path("elsewhere/got").c_str(), S_IFIFO | 0600, 0); });
}

// Landlock has no rule for any of these: the filter alone holds them.
void add_attributes(Cases& cases) {
  using enum Expected;
  const auto killed = [&](const char* name, std::function<long(const World&)> act, bool works_without = true) {
    cases.push_back(
        {name, std::move(act), kKilled, kKilled, works_without ? std::optional<Expected>(kWorks) : std::nullopt});
  };
  killed("chmod", [](const World& w) { return call(SYS_chmod, w.path("elsewhere/m").c_str(), 04755); });
  killed("fchmod of the ledger", [](const World& w) { return call(SYS_fchmod, w.ledger, 0666); });
  killed("fchmodat", [](const World& w) { return call(SYS_fchmodat, w.slot, "m", 0666); });
  killed("chown", [](const World& w) { return call(SYS_chown, w.path("elsewhere/m").c_str(), -1, -1); });
  killed("lchown", [](const World& w) { return call(SYS_lchown, w.path("elsewhere/m").c_str(), -1, -1); });
  killed("fchown", [](const World& w) { return call(SYS_fchown, w.ledger, -1, -1); });
  killed("fchownat", [](const World& w) { return call(SYS_fchownat, w.slot, "m", -1, -1, 0); });
  killed("utimensat", [](const World& w) { return call(SYS_utimensat, w.slot, "m", nullptr, 0); });
  killed("utime", [](const World& w) { return call(SYS_utime, w.path("elsewhere/m").c_str(), nullptr); });
  killed("utimes", [](const World& w) { return call(SYS_utimes, w.path("elsewhere/m").c_str(), nullptr); });
  killed("futimesat", [](const World& w) { return call(SYS_futimesat, w.slot, "m", nullptr); });
  killed(
      "setxattr", [](const World& w) { return call(SYS_setxattr, w.path("elsewhere/m").c_str(), "user.x", "x", 1, 0); },
      false);
  killed(
      "fsetxattr", [](const World& w) { return call(SYS_fsetxattr, w.ledger, "user.x", "x", 1, 0); }, false);
  killed(
      "getxattr",
      [](const World& w) { return call(SYS_getxattr, w.path("elsewhere/m").c_str(), "user.x", nullptr, 0); }, false);
  killed("listxattr", [](const World& w) { return call(SYS_listxattr, w.path("elsewhere/m").c_str(), nullptr, 0); });
  killed(
      "removexattr", [](const World& w) { return call(SYS_removexattr, w.path("elsewhere/m").c_str(), "user.x"); },
      false);
  killed("chdir", [](const World&) { return call(SYS_chdir, "/"); });
  killed("fchdir", [](const World& w) { return call(SYS_fchdir, w.elsewhere); });
  killed(
      "chroot", [](const World&) { return call(SYS_chroot, "/"); }, false);
  killed("getcwd", [](const World&) {
    std::array<char, 4096> buffer{};
    return call(SYS_getcwd, buffer.data(), buffer.size());
  });
  killed("readlink", [](const World&) {
    std::array<char, 64> buffer{};
    return call(SYS_readlink, "/proc/self/exe", buffer.data(), buffer.size());
  });
  killed("stat() of old", [](const World&) {
    struct stat info {};
    return call(SYS_stat, "/", &info);
  });
  killed("statfs", [](const World&) {
    std::array<char, 512> buffer{};
    return call(SYS_statfs, "/", buffer.data());
  });
  killed("flock", [](const World& w) { return call(SYS_flock, w.ledger, 2); });
  killed("sync", [](const World&) { return call(SYS_sync); });
  killed(
      "inotify_add_watch", [](const World& w) { return call(SYS_inotify_add_watch, w.epoll, "/", 1); }, false);
  killed("inotify_init1", [](const World&) { return call(SYS_inotify_init1, 0); });
  killed(
      "fanotify_init", [](const World&) { return call(SYS_fanotify_init, 0, 0); }, false);
  for (const auto& [name, number] :
       {std::pair{"statx", 332L}, {"faccessat2", 439L}, {"fchmodat2", 452L}, {"setxattrat", 463L}})
    cases.push_back({name, [number = number](const World& w) { return call(number, w.slot, "m", 0, 0, 0); },
                     kNoSuchCall, kNoSuchCall, std::nullopt});
}

}  // namespace

void add_name_cases(Cases& cases) {
  add_renames(cases);
  add_removals(cases);
  add_making(cases);
  add_attributes(cases);
}

}  // namespace intray::test
