// Purpose:    what this kernel offers for confinement, and what running processes have of it.
// Trust:      /proc and /sys are the kernel's.
// Thread use: pure readers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace intray::sys {

struct Machine {
  std::string kernel;              // release of uname(2)
  int landlock_abi = 0;            // 0: none
  bool seccomp_filter = false;     // the kernel takes seccomp filters
  std::string apparmor;            // "on", "off"
  std::string selinux;             // "enforcing", "permissive", "off"
  std::optional<int> yama_ptrace;  // kernel.yama.ptrace_scope
  bool systemd = false;            // runs as the service manager
};
Machine look_at_machine();

struct ProcessFacts {
  int pid = 0;
  std::string name;
  bool own_network = false;  // another network namespace than ours
  int seccomp_mode = 0;      // 2: a filter
  bool no_new_privs = false;
};
// Processes whose effective uid this is, at most `max`; those that vanish meanwhile are left out.
std::vector<ProcessFacts> processes_of(std::uint32_t uid, std::size_t max);

// The uid that made the socket listening on this TCP port; nullopt: none, or it can't be told.
std::optional<std::uint32_t> listener_uid(std::uint16_t port);

}  // namespace intray::sys
