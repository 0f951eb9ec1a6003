#include "confine_bench.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "confine/lock_down.h"

namespace intray::bench {
namespace {

constexpr std::size_t kJobBytes = 600;
constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHeadBytes = 24;
constexpr int kCommitsPerJob = 3;  // claimed, attempted, ended

void must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::_Exit(1);
}

int open_dir(const std::string& path) {
  must(::mkdir(path.c_str(), 0700) == 0, path.c_str());
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  must(fd >= 0, path.c_str());
  return fd;
}

std::string name_of(int job) { return std::to_string(job) + ".json"; }

// An inbox of its own for each round: no round deletes what the one before made.
void make_inbox(const std::string& root, int jobs) {
  for (const char* name :
       {"", "/tmp", "/new", "/cur", "/slot", "/done", "/failed", "/rejected", "/unknown", "/receipts", "/mirror"})
    ::close(open_dir(root + name));
  const std::string job(kJobBytes, 'j');
  for (int i = 0; i < jobs; ++i) {
    const int fd = ::open((root + "/new/" + name_of(i)).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    must(fd >= 0 && ::write(fd, job.data(), job.size()) == static_cast<ssize_t>(job.size()), "new job");
    ::close(fd);
  }
}

struct Open {
  std::vector<sys::Dir> dirs;
  confine::Plan plan;
};

Open open_inbox(const std::string& root) {
  Open out;
  for (const char* name : {"/tmp", "/new", "/cur", "/slot", "/done", "/failed", "/rejected", "/unknown", "/receipts"}) {
    auto dir = sys::Dir::open(root + name);
    must(dir.has_value(), name);
    out.dirs.push_back(std::move(*dir));
  }
  std::array<int, 2> channel{};
  must(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel.data()) == 0, "socketpair");
  auto plan = confine::save_plan({.tmp = out.dirs[0],
                                  .fresh = out.dirs[1],
                                  .cur = out.dirs[2],
                                  .slot = out.dirs[3],
                                  .done = out.dirs[4],
                                  .failed = out.dirs[5],
                                  .rejected = out.dirs[6],
                                  .unknown = out.dirs[7],
                                  .receipts = out.dirs[8],
                                  .file_mode = 0600,
                                  .mirror = root + "/mirror",
                                  .read_directories = {},
                                  .epoll = ::epoll_create1(EPOLL_CLOEXEC),
                                  .timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC),
                                  .channel = channel[0]});
  must(plan.has_value(), "plan");
  out.plan = std::move(*plan);
  return out;
}

// What one transaction asks of the kernel: a lock, a page looked at, three pages with their heads, the lock given back.
void commit_pages(int ledger, const std::vector<char>& page) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_len = 1;
  must(::fcntl(ledger, F_SETLK, &lock) == 0, "lock");
  std::array<char, kHeadBytes> head{};
  must(::pread(ledger, head.data(), head.size(), 0) >= 0, "look");
  for (off_t i = 0; i < 3; ++i) {
    const off_t at = i * static_cast<off_t>(kPageBytes + kHeadBytes);
    must(::pwrite(ledger, head.data(), head.size(), at) == static_cast<ssize_t>(head.size()), "head");
    must(::pwrite(ledger, page.data(), page.size(), at + static_cast<off_t>(kHeadBytes)) ==
             static_cast<ssize_t>(page.size()),
         "page");
  }
  lock.l_type = F_UNLCK;
  must(::fcntl(ledger, F_SETLK, &lock) == 0, "unlock");
}

// Microseconds per job.
double work(const std::string& root, int jobs, bool confined) {
  Open& inbox = *new Open(open_inbox(root));  // never destroyed: a locked-down process may not close what it had open
  const int fresh = inbox.dirs[1].fd();
  const int slot = inbox.dirs[3].fd();
  const int done = inbox.dirs[4].fd();
  const int ledger = ::open((root + "/ledger").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  must(ledger >= 0, "ledger");
  const std::vector<char> page(kPageBytes, 'l');
  std::vector<char> job(kJobBytes);
  if (confined) must(confine::lock_down(std::move(inbox.plan)).has_value(), "lock-down");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < jobs; ++i) {
    const std::string name = name_of(i);
    struct stat info {};
    must(::fstatat(fresh, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0, "stat");
    must(::renameat2(fresh, name.c_str(), slot, name.c_str(), RENAME_NOREPLACE) == 0, "claim");
    const int fd = ::openat(slot, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    must(fd >= 0 && ::fstat(fd, &info) == 0, "open");
    must(::read(fd, job.data(), job.size()) == static_cast<ssize_t>(job.size()), "read");
    ::close(fd);
    static_cast<void>(base::sha256(std::string_view(job.data(), job.size())));
    for (int commit = 0; commit < kCommitsPerJob; ++commit) commit_pages(ledger, page);
    must(::renameat2(slot, name.c_str(), done, name.c_str(), RENAME_NOREPLACE) == 0, "outcome");
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / jobs;
}

double round(const std::string& root, int jobs, bool confined) {
  make_inbox(root, jobs);
  std::array<int, 2> ends{};
  must(::pipe(ends.data()) == 0, "pipe");
  const pid_t child = ::fork();
  must(child >= 0, "fork");
  if (child == 0) {
    const double cost = work(root, jobs, confined);
    must(::write(ends[1], &cost, sizeof cost) == sizeof cost, "pipe");
    ::_exit(0);
  }
  ::close(ends[1]);
  double cost = 0;
  const bool told = ::read(ends[0], &cost, sizeof cost) == sizeof cost;
  ::close(ends[0]);
  int status = 0;
  must(::waitpid(child, &status, 0) == child && status == 0 && told, "a round");
  return cost;
}

}  // namespace

ConfineCost confine_cost(const std::string& dir, int rounds, int jobs) {
  must(::mkdir(dir.c_str(), 0700) == 0, dir.c_str());
  ConfineCost best{1e9, 1e9};
  for (int i = 0; i < rounds; ++i)
    for (const bool confined : {i % 2 == 0, i % 2 != 0}) {
      const double cost = round(dir + "/" + std::to_string(i) + (confined ? "-confined" : "-free"), jobs, confined);
      double& smallest = confined ? best.confined_us : best.free_us;
      smallest = std::min(smallest, cost);
    }
  return best;
}

}  // namespace intray::bench
