// What a worker does all day, and what libraries do under it: confined it must work as before, or the rest of this
// table proves nothing.
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "attempt.h"

namespace intray::test {
namespace {

constexpr int kReceiptFlags = O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
constexpr int kRead = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

long move(const World&, int from, const char* name, int to, const char* new_name) {
  return call(SYS_renameat2, from, name, to, new_name, RENAME_NOREPLACE);
}

}  // namespace

void add_honest_cases(Cases& cases) {
  using enum Expected;
  const auto works = [&](const char* name, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act), kWorks, kWorks, kWorks});
  };
  works("list new/", [](const World& w) { return call(SYS_openat, w.fresh, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  works("list tmp/", [](const World& w) { return call(SYS_openat, w.tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  works("read a job in new/", [](const World& w) { return call(SYS_openat, w.fresh, "m", kRead); });
  works("read a job in the lease", [](const World& w) { return call(SYS_openat, w.slot, "m", kRead); });
  works("read a waiting job", [](const World& w) { return call(SYS_openat, w.cur, "m", kRead); });
  works("read git", [](const World& w) {
    return call(SYS_openat, AT_FDCWD, w.path("mirror.git/HEAD").c_str(), O_RDONLY | O_CLOEXEC);
  });
  works("list git", [](const World& w) {
    return call(SYS_openat, AT_FDCWD, w.path("mirror.git/objects").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  });
  works("make the day's receipts",
        [](const World& w) { return call(SYS_openat, w.receipts, "made", kReceiptFlags | O_CREAT | O_EXCL, 0600); });
  works("append a receipt", [](const World& w) {
    const long fd = call(SYS_openat, w.receipts, "m", kReceiptFlags);
    return fd < 0 ? -1 : call(SYS_write, fd, "{}\n", 3);
  });
  works("close what was opened", [](const World& w) {
    const long fd = call(SYS_openat, w.slot, "m", kRead);
    return fd < 0 ? -1 : call(SYS_close, fd);
  });
  works("close what is not open, in vain",
        [](const World&) { return call(SYS_close, -1) == -1 && errno == EBADF ? 0 : -1; });
  works("close what is not open, by an int's bits",
        [](const World&) { return call(SYS_close, 0xffffffffU) == -1 && errno == EBADF ? 0 : -1; });
  works("remove a duplicate in the lease", [](const World& w) { return call(SYS_unlinkat, w.slot, "m", 0); });
  works("remove a link in new/", [](const World& w) { return call(SYS_unlinkat, w.fresh, "m", 0); });
  works("remove an old file in tmp/", [](const World& w) { return call(SYS_unlinkat, w.tmp, "m", 0); });
  works("a job's way to done/", [](const World& w) -> long {
    if (move(w, w.fresh, "m", w.slot, "j") != 0 || move(w, w.slot, "j", w.slot, "k") != 0) return -1;
    return move(w, w.slot, "k", w.done, "j");
  });
  works("a job's way over cur/ to failed/", [](const World& w) -> long {
    if (move(w, w.slot, "m", w.cur, "j") != 0 || move(w, w.cur, "j", w.slot, "j") != 0) return -1;
    return move(w, w.slot, "j", w.cur, "j") != 0 ? -1 : move(w, w.cur, "j", w.failed, "j");
  });
  works("write and sync the ledger", [](const World& w) -> long {
    if (call(SYS_pwrite64, w.ledger, "xy", 2, 0) != 2 || call(SYS_ftruncate, w.ledger, 4096) != 0) return -1;
    return call(SYS_fdatasync, w.ledger);
  });
  works("map the ledger's index",
        [](const World& w) { return call(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, w.ledger, 0); });
  works("lock the ledger", [](const World& w) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    return call(SYS_fcntl, w.ledger, F_SETLK, &lock);
  });
  works("ask the connector",
        [](const World& w) { return call(SYS_sendto, w.channel, "C", 1, MSG_NOSIGNAL, nullptr, 0); });
  works("send on the connection",
        [](const World& w) { return call(SYS_sendto, w.live, "x", 1, MSG_NOSIGNAL, nullptr, 0); });
  works("set TCP_NODELAY", [](const World& w) {
    const int one = 1;
    return call(SYS_setsockopt, w.live, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  });
  works("make the connection non-blocking",
        [](const World& w) { return call(SYS_fcntl, w.live, F_SETFL, O_RDWR | O_NONBLOCK); });
  works("watch the connection", [](const World& w) {
    epoll_event event{};
    return call(SYS_epoll_ctl, w.epoll, EPOLL_CTL_ADD, w.live, &event);
  });
  works("set the timer", [](const World& w) {
    const itimerspec time{};
    return call(SYS_timerfd_settime, w.timer, 0, &time, nullptr);
  });
  works("allocate much", [](const World&) {
    const std::vector<char> big(16 << 20, 'x');
    return big.back() == 'x' ? 0 : -1;
  });
  works("memory of glibc 2.41's getrandom", [](const World&) {
    const long at = call(SYS_mmap, nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | 0x08, -1, 0);
    return at == -1 && errno == EINVAL ? 0 : at;  // a flag that this kernel may not know
  });
  works("random bytes", [](const World&) {
    std::array<char, 16> bytes{};
    return call(SYS_getrandom, bytes.data(), bytes.size(), 0);
  });
  works("look at SIGPIPE", [](const World&) { return call(SYS_rt_sigaction, SIGPIPE, nullptr, nullptr, 8); });
  works("give way on a lock", [](const World&) { return call(SYS_sched_yield); });
  works("probe this process by tgkill", [](const World&) {
    const long pid = call(SYS_getpid);
    return call(SYS_tgkill, pid, pid, 0);
  });
}

}  // namespace intray::test
