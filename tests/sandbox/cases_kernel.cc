// The kernel's own interfaces, and its other entries: x32 numbers, int 0x80.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "attempt.h"

namespace intray::test {
namespace {

struct Plain {
  const char* name;
  long number;
  std::vector<long> arguments = {};
};

const std::vector<Plain>& plain() {
  static const std::vector<Plain> list{
      {"bpf", SYS_bpf, {0, 0, 0}},
      {"io_uring_setup", 425, {1, 0}},
      {"io_uring_enter", 426, {-1, 0, 0, 0, 0, 0}},
      {"io_uring_register", 427, {-1, 0, 0, 0}},
      {"io_setup", SYS_io_setup, {1, 0}},
      {"io_submit", SYS_io_submit, {0, 0, 0}},
      {"perf_event_open", SYS_perf_event_open, {0, 0, -1, -1, 0}},
      {"keyctl", SYS_keyctl, {0, -3, 0}},
      {"add_key", SYS_add_key, {0, 0, 0, 0, 0}},
      {"request_key", SYS_request_key, {0, 0, 0, 0}},
      {"mount", SYS_mount, {0, 0, 0, 0, 0}},
      {"umount2", SYS_umount2, {0, 0}},
      {"pivot_root", SYS_pivot_root, {0, 0}},
      {"mount_setattr", 442, {-1, 0, 0, 0, 0}},
      {"open_tree", 428, {-1, 0, 0}},
      {"move_mount", 429, {-1, 0, -1, 0, 0}},
      {"fsopen", 430, {0, 0}},
      {"fsconfig", 431, {-1, 0, 0, 0, 0}},
      {"fsmount", 432, {-1, 0, 0}},
      {"fspick", 433, {-1, 0, 0}},
      {"unshare a user namespace", SYS_unshare, {0x10000000}},
      {"unshare files", SYS_unshare, {0x400}},
      {"setns", SYS_setns, {-1, 0}},
      {"personality", SYS_personality, {0x0040000}},
      {"seccomp: another filter", SYS_seccomp, {1, 0, 0}},
      {"seccomp: what there is", SYS_seccomp, {2, 0, 0}},
      {"landlock_create_ruleset", 444, {0, 0, 1}},
      {"landlock_add_rule", 445, {-1, 1, 0, 0}},
      {"landlock_restrict_self", 446, {-1, 0}},
      {"arch_prctl", SYS_arch_prctl, {0x1003, 0}},
      {"modify_ldt", SYS_modify_ldt, {0, 0, 0}},
      {"iopl", SYS_iopl, {3}},
      {"ioperm", SYS_ioperm, {0, 1, 1}},
      {"syslog", SYS_syslog, {10, 0, 0}},
      {"reboot", SYS_reboot, {0, 0, 0, 0}},
      {"init_module", SYS_init_module, {0, 0, 0}},
      {"finit_module", SYS_finit_module, {-1, 0, 0}},
      {"delete_module", SYS_delete_module, {0, 0}},
      {"kexec_load", SYS_kexec_load, {0, 0, 0, 0}},
      {"kexec_file_load", SYS_kexec_file_load, {-1, -1, 0, 0, 0}},
      {"swapon", SYS_swapon, {0, 0}},
      {"quotactl", SYS_quotactl, {0, 0, 0, 0}},
      {"quotactl_fd", 443, {-1, 0, 0, 0}},
      {"acct", SYS_acct, {0}},
      {"settimeofday", SYS_settimeofday, {0, 0}},
      {"clock_settime", SYS_clock_settime, {0, 0}},
      {"clock_adjtime", SYS_clock_adjtime, {0, 0}},
      {"adjtimex", SYS_adjtimex, {0}},
      {"sethostname", SYS_sethostname, {0, 0}},
      {"vhangup", SYS_vhangup},
      {"uselib", SYS_uselib, {0}},
      {"lookup_dcookie", SYS_lookup_dcookie, {0, 0, 0}},
      {"msgget", SYS_msgget, {0, 0}},
      {"semget", SYS_semget, {0, 0, 0}},
      {"mq_open", SYS_mq_open, {0, 0, 0, 0}},
      {"ustat", SYS_ustat, {0, 0}},
      {"sysfs", SYS_sysfs, {3, 0, 0}},
      {"_sysctl", SYS__sysctl, {0}},
      {"get_thread_area", SYS_get_thread_area, {0}},
      {"a number that no kernel has", 999},
      {"a number far away", 1L << 20},
      {"the number -1", -1},
      {"x32: getpid", 0x40000000L | SYS_getpid},
      {"x32: read", 0x40000000L | SYS_read, {0, 0, 0}},
      {"x32: openat", 0x40000000L | SYS_openat, {-100, 0, 0, 0}},
      {"x32: execve", 0x40000000L | 520, {0, 0, 0}},
      {"x32: sendmsg", 0x40000000L | 518, {0, 0, 0}},
      {"x32: process_vm_readv", 0x40000000L | 539, {0, 0, 0, 0, 0, 0}},
  };
  return list;
}

// The entry of 32-bit programs, which has numbers of its own. SIGSEGV where the kernel has no such entry.
long int_0x80(long number, long first = 0, long second = 0) {
  long answer = number;
  __asm__ volatile("int $0x80"
                   : "+a"(answer)
                   : "b"(first), "c"(second), "d"(0L), "S"(0L), "D"(0L)
                   : "r8", "r9", "r10", "r11", "memory", "cc");
  if (answer < 0 && answer > -4096) {
    errno = static_cast<int>(-answer);
    return -1;
  }
  return answer;
}

}  // namespace

void add_kernel_cases(Cases& cases) {
  using enum Expected;
  for (const Plain& p : plain())
    cases.push_back({p.name, [&p](const World&) { return call_words(p.number, p.arguments); }});
  for (const auto& [name, number] : {std::pair{"int 0x80: getpid", 20L},
                                     {"int 0x80: socketcall", 102L},
                                     {"int 0x80: execve", 11L},
                                     {"int 0x80: open", 5L},
                                     {"int 0x80: fork", 2L}})
    cases.push_back({name, [number = number](const World&) { return int_0x80(number); }});
  // The kernel exempts these two from every filter; neither does anything for whoever isn't probed.
  cases.push_back({"uretprobe", [](const World&) { return call(335); }, kFails, kFails, std::nullopt});
  cases.push_back({"uprobe", [](const World&) { return call(336); }, kFails, kFails, std::nullopt});
  for (const auto& [name, number] : {std::pair{"epoll_pwait2", 441L},
                                     {"membarrier", 324L},
                                     {"futex_waitv", 449L},
                                     {"cachestat", 451L},
                                     {"futex_wake", 454L},
                                     {"statmount", 457L},
                                     {"lsm_set_self_attr", 460L},
                                     {"open_tree_attr", 467L},
                                     {"a call of a coming kernel", 470L}})
    cases.push_back({name, [number = number](const World&) { return call(number, 0, 0, 0, 0, 0); }, kNoSuchCall,
                     kNoSuchCall, std::nullopt});
}

}  // namespace intray::test
