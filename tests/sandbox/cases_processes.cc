// Processes: making one, becoming another, reaching into one, changing what this one is.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "attempt.h"

namespace intray::test {
namespace {

constexpr long kThreadFlags = 0x3d0f00;  // what pthread_create asks for

struct Plain {
  const char* name;
  long number;
  std::vector<long> arguments;
  std::optional<Expected> paths_only = {};
};

const std::vector<Plain>& plain() {
  using enum Expected;
  static const std::vector<Plain> list{
      {"fork", SYS_fork, {}},
      {"vfork", SYS_vfork, {}},
      {"clone a process", SYS_clone, {SIGCHLD, 0, 0, 0, 0}},
      {"clone a thread", SYS_clone, {kThreadFlags, 0, 0, 0, 0}},
      {"clone into a new user namespace", SYS_clone, {0x10000000 | SIGCHLD, 0, 0, 0, 0}},
      {"clone3", SYS_clone3, {0, 0}},
      {"ptrace: be traced", SYS_ptrace, {0, 0, 0, 0}, kWorks},
      {"kill oneself", SYS_kill, {0, 0}},
      {"tkill", SYS_tkill, {1, 0}},
      {"tgkill process 1", SYS_tgkill, {1, 1, 0}},
      {"rt_sigqueueinfo", SYS_rt_sigqueueinfo, {1, 0, 0}},
      {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, {1, 1, 0, 0}},
      {"pidfd_open", 434, {1, 0}},
      {"pidfd_send_signal", 424, {-1, 0, 0, 0}},
      {"pidfd_getfd", 438, {-1, 0, 0}},
      {"process_vm_readv", SYS_process_vm_readv, {1, 0, 0, 0, 0, 0}},
      {"process_vm_writev", SYS_process_vm_writev, {1, 0, 0, 0, 0, 0}},
      {"process_madvise", 440, {-1, 0, 0, 0, 0}},
      {"process_mrelease", 448, {-1, 0}},
      {"kcmp", SYS_kcmp, {1, 1, 0, 0, 0}},
      {"wait4", SYS_wait4, {-1, 0, 1, 0}},
      {"waitid", SYS_waitid, {0, 0, 0, 1, 0}},
      {"setuid", SYS_setuid, {0}},
      {"setreuid", SYS_setreuid, {-1, -1}, kWorks},
      {"setresuid", SYS_setresuid, {-1, -1, -1}, kWorks},
      {"setgid", SYS_setgid, {0}},
      {"setregid", SYS_setregid, {-1, -1}, kWorks},
      {"setresgid", SYS_setresgid, {-1, -1, -1}, kWorks},
      {"setgroups", SYS_setgroups, {0, 0}},
      {"setfsuid", SYS_setfsuid, {0}, kWorks},
      {"setfsgid", SYS_setfsgid, {0}, kWorks},
      {"capset", SYS_capset, {0, 0}},
      {"capget", SYS_capget, {0, 0}},
      {"setsid", SYS_setsid, {}},
      {"setpgid", SYS_setpgid, {0, 0}, kWorks},
      {"prctl: dumpable again", SYS_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0}, kWorks},
      {"prctl: another filter", SYS_prctl, {PR_SET_SECCOMP, 2, 0, 0, 0}},
      {"prctl: a name", SYS_prctl, {PR_SET_NAME, 0, 0, 0, 0}},
      {"prctl: keep capabilities", SYS_prctl, {PR_SET_KEEPCAPS, 1, 0, 0, 0}},
      {"prctl: who may trace", SYS_prctl, {PR_SET_PTRACER, -1, 0, 0, 0}},
      {"prctl: subreaper", SYS_prctl, {PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0}, kWorks},
      {"setrlimit", SYS_setrlimit, {RLIMIT_CORE, 0}},
      {"prlimit64", SYS_prlimit64, {0, RLIMIT_CORE, 0, 0}, kWorks},
      {"sched_setscheduler", SYS_sched_setscheduler, {0, 1, 0}},
      {"sched_setattr", SYS_sched_setattr, {0, 0, 0}},
      {"sched_setaffinity", SYS_sched_setaffinity, {0, 0, 0}},
      {"setpriority", SYS_setpriority, {0, 0, 0}},
      {"ioprio_set", SYS_ioprio_set, {1, 0, 0}, kWorks},
      {"umask", SYS_umask, {0}, kWorks},
      {"uname", SYS_uname, {0}},
      {"sysinfo", SYS_sysinfo, {0}},
      {"getrusage", SYS_getrusage, {0, 0}},
      {"rt_sigaction: SIGSYS", SYS_rt_sigaction, {SIGSYS, 0, 0, 8}, kWorks},
      {"rt_sigaction: SIGSEGV", SYS_rt_sigaction, {SIGSEGV, 0, 0, 8}, kWorks},
      {"rt_sigaction: SIGPIPE with bit 32", SYS_rt_sigaction, {SIGPIPE | kBit32, 0, 0, 8}},
      {"rt_sigtimedwait", SYS_rt_sigtimedwait, {0, 0, 0, 8}},
      {"rt_sigsuspend", SYS_rt_sigsuspend, {0, 8}},
      {"sigaltstack", SYS_sigaltstack, {0, 0}, kWorks},
      {"pause", SYS_pause, {}},
      {"alarm", SYS_alarm, {1}, kWorks},
      {"setitimer", SYS_setitimer, {0, 0, 0}},
      {"timer_create", SYS_timer_create, {0, 0, 0}},
      {"set_robust_list", SYS_set_robust_list, {0, 24}, kWorks},
      {"set_tid_address", SYS_set_tid_address, {0}, kWorks},
      {"rseq", SYS_rseq, {0, 0, 0, 0}},
      {"futex: take over a lock", SYS_futex, {0, 6, 0, 0, 0, 0}},
      {"futex: requeue with priority", SYS_futex, {0, 12, 0, 0, 0, 0}},
      {"futex: shared wait", SYS_futex, {0, 0, 0, 0, 0, 0}},
      {"futex: wake with bit 32", SYS_futex, {0, (1 | 128) | kBit32, 1, 0, 0, 0}},
  };
  return list;
}

}  // namespace

void add_process_cases(Cases& cases) {
  using enum Expected;
  for (const Plain& p : plain())
    cases.push_back(
        {p.name, [&p](const World&) { return call_words(p.number, p.arguments); }, kKilled, kKilled, p.paths_only});
  const auto killed = [&](const char* name, std::optional<Expected> paths_only, std::function<long(const World&)> act) {
    cases.push_back({name, std::move(act), kKilled, kKilled, paths_only});
  };
  killed("execve", kRefused, [](const World&) {
    const std::array<const char*, 2> words{"/bin/true", nullptr};
    return call(SYS_execve, "/bin/true", words.data(), nullptr);
  });
  killed("execve of this program", kRefused, [](const World&) {
    const std::array<const char*, 2> words{"/proc/self/exe", nullptr};
    return call(SYS_execve, "/proc/self/exe", words.data(), nullptr);
  });
  killed("execveat of an open file", std::nullopt,
         [](const World& w) { return call(SYS_execveat, w.job, "", nullptr, nullptr, AT_EMPTY_PATH); });
  killed("ptrace: attach to the parent", std::nullopt,
         [](const World& w) { return call(SYS_ptrace, 16, w.parent, nullptr, nullptr); });
  killed("signal the parent", kRefused, [](const World& w) { return call(SYS_kill, w.parent, 0); });
  killed("tgkill the parent", kRefused, [](const World& w) { return call(SYS_tgkill, w.parent, w.parent, 0); });
  killed("tgkill oneself with bit 32", std::nullopt, [](const World&) {
    const long pid = call(SYS_getpid);
    return call(SYS_tgkill, pid | kBit32, pid, 0);
  });
}

}  // namespace intray::test
