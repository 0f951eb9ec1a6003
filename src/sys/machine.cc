#include "sys/machine.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <string_view>

#include "limits.h"
#include "sys/dir.h"

namespace intray::sys {
namespace {

#ifndef SYS_landlock_create_ruleset
constexpr long SYS_landlock_create_ruleset = 444;
#endif
constexpr unsigned kLandlockVersionFlag = 1;

std::string text_of(const std::string& path) {
  auto text = read_file(path, limits::kProcFileBytesMax);
  if (!text) return {};
  while (!text->empty() && (text->back() == '\n' || text->back() == '\0')) text->pop_back();
  return *text;
}

// The words behind "Name:" in /proc/<pid>/status.
std::vector<std::string> status_words(const std::string& status, const std::string& name) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::istringstream words(line.substr(name.size() + 1));
    std::vector<std::string> out;
    for (std::string word; words >> word;) out.push_back(word);
    return out;
  }
  return {};
}

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::optional<std::uint64_t> network_of(const std::string& pid) {
  struct stat info {};
  if (::stat(("/proc/" + pid + "/ns/net").c_str(), &info) != 0) return std::nullopt;
  return info.st_ino;
}

}  // namespace

Machine look_at_machine() {
  Machine out;
  utsname name{};
  if (::uname(&name) == 0) out.kernel = static_cast<const char*>(name.release);
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kLandlockVersionFlag);
  out.landlock_abi = abi > 0 ? static_cast<int>(abi) : 0;
  out.seccomp_filter = text_of("/proc/sys/kernel/seccomp/actions_avail").contains("kill_process");
  out.apparmor = text_of("/sys/module/apparmor/parameters/enabled") == "Y" ? "on" : "off";
  const std::string enforce = text_of("/sys/fs/selinux/enforce");
  out.selinux = enforce == "1" ? "enforcing" : enforce == "0" ? "permissive" : "off";
  out.yama_ptrace = number<int>(text_of("/proc/sys/kernel/yama/ptrace_scope"));
  struct stat info {};
  out.systemd = ::lstat("/run/systemd/system", &info) == 0;
  return out;
}

std::vector<ProcessFacts> processes_of(std::uint32_t uid, std::size_t max) {
  std::vector<ProcessFacts> out;
  const auto proc = Dir::open("/proc");
  const auto names = proc ? proc->list() : std::unexpected(proc.error());
  if (!names) return out;
  const auto our_network = network_of("self");
  for (const std::string& name : *names) {
    const auto pid = number<int>(name);
    if (!pid || out.size() >= max) continue;
    const std::string status = text_of("/proc/" + name + "/status");
    const auto uids = status_words(status, "Uid");
    if (uids.size() != 4 || number<std::uint32_t>(uids[1]) != uid) continue;
    ProcessFacts facts;
    facts.pid = *pid;
    facts.name = text_of("/proc/" + name + "/comm");
    const auto network = network_of(name);
    facts.own_network = network && our_network && *network != *our_network;
    const auto mode = status_words(status, "Seccomp");
    facts.seccomp_mode = mode.empty() ? 0 : number<int>(mode[0]).value_or(0);
    facts.no_new_privs = status_words(status, "NoNewPrivs") == std::vector<std::string>{"1"};
    out.push_back(std::move(facts));
  }
  return out;
}

std::optional<std::uint32_t> listener_uid(std::uint16_t port) {
  constexpr std::string_view kListening = "0A";
  for (const char* const file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines(text_of(file));
    std::string line;
    std::getline(lines, line);  // titles
    // sl local remote state tx:rx tr:when retransmits uid …
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string slot;
      std::string local;
      std::string remote;
      std::string state;
      std::string queues;
      std::string timer;
      std::string retransmits;
      std::string uid;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid;
      if (state != kListening) continue;
      if (number<std::uint16_t>(std::string_view(local).substr(local.rfind(':') + 1), 16) == port)
        return number<std::uint32_t>(uid);
    }
  }
  return std::nullopt;
}

}  // namespace intray::sys
