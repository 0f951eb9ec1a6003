#include "sys/identity.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <grp.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "limits.h"
#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

constexpr int kBecameNobody = 126;  // exit code of a child that could not become the identity

struct Pipe {
  Fd read_end;
  Fd write_end;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_call(errno, "pipe2");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// All capability sets empty, as the kernel sees them now.
bool without_capabilities() {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capset, &header, sets.data()) != 0) return false;
  header.version = _LINUX_CAPABILITY_VERSION_3;
  header.pid = 0;
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  for (const auto& set : sets)
    if (set.effective != 0 || set.permitted != 0 || set.inheritable != 0) return false;
  return true;
}

// Looks again afterwards: a probe that ran as somebody else would prove nothing.
bool become(const Identity& identity) {
  const bool root = ::geteuid() == 0;
  if (root) {
    std::vector<gid_t> groups(identity.groups.begin(), identity.groups.end());
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(identity.gid, identity.gid, identity.gid) != 0 ||
        ::setresuid(identity.uid, identity.uid, identity.uid) != 0)
      return false;
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !without_capabilities()) return false;
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
  if (::getresuid(&real, &effective, &saved) != 0) return false;
  return real == identity.uid && effective == identity.uid && saved == identity.uid;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return W_EXITCODE(255, 0);
  return status;
}

bool write_whole(int fd, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

base::Result<void> judge(int status, const Identity& identity) {
  const std::string who = "uid " + std::to_string(identity.uid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kBecameNobody)
    return base::fail(base::ErrorCode::kDenied, "could not become " + who);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return base::fail(base::ErrorCode::kBusy, "a try as " + who + " took too long and was ended");
  return base::fail(base::ErrorCode::kUnavailable,
                    "a try as " + who + " died (wait status " + std::to_string(status) + ")");
}

[[noreturn]] void try_in_child(const Identity& identity, std::span<const std::function<Attempt()>> acts, int report) {
  ::signal(SIGALRM, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!become(identity)) ::_exit(kBecameNobody);
  ::alarm(limits::kProbeSecondsMax);
  for (const auto& act : acts) {
    const Attempt attempt = act();
    if (!write_whole(report, &attempt, sizeof attempt)) ::_exit(1);
  }
  ::_exit(0);
}

}  // namespace

bool can_become(const Identity& identity) { return ::geteuid() == 0 || ::geteuid() == identity.uid; }

base::Result<std::vector<Attempt>> try_as(const Identity& identity, std::span<const std::function<Attempt()>> acts) {
  Pipe pipe = INTRAY_TRY(make_pipe());
  const pid_t child = ::fork();
  if (child == 0) try_in_child(identity, acts, pipe.write_end.get());
  if (child < 0) return fail_call(errno, "fork");
  pipe.write_end.reset();
  std::vector<Attempt> answers(acts.size());
  std::size_t got = 0;
  const std::size_t wanted = answers.size() * sizeof(Attempt);
  auto* const bytes = reinterpret_cast<char*>(answers.data());  // NOLINT(*-reinterpret-cast): octets of plain structs
  while (got < wanted) {
    const ssize_t n = ::read(pipe.read_end.get(), bytes + got, wanted - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  INTRAY_TRY(judge(wait_for(child), identity));
  if (got != wanted) return base::fail(base::ErrorCode::kUnavailable, "a try gave no answer");
  return answers;
}

base::Result<Decoy> Decoy::start(const Identity& identity) {
  Pipe pipe = INTRAY_TRY(make_pipe());
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::geteuid() == 0 && identity.uid != 0 && !become(identity)) ::_exit(kBecameNobody);
    // A change of ids makes a process undumpable, which alone would refuse every look at it.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of ids clears it
    if (!write_whole(pipe.write_end.get(), "r", 1)) ::_exit(1);
    while (true) ::pause();
  }
  if (child < 0) return fail_call(errno, "fork");
  pipe.write_end.reset();
  Decoy decoy(child, identity.uid);
  char ready = 0;
  ssize_t n = 0;
  do n = ::read(pipe.read_end.get(), &ready, 1);
  while (n < 0 && errno == EINTR);
  if (n != 1) return base::fail(base::ErrorCode::kDenied, "could not become uid " + std::to_string(identity.uid));
  return decoy;
}

Decoy::~Decoy() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait_for(pid_);
}

base::Result<ProgramOutput> run_as(const Identity& identity, const std::string& program,
                                   const std::vector<std::string>& arguments) {
  Pipe pipe = INTRAY_TRY(make_pipe());
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return fail_call(errno, "/dev/null");
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    std::array<char*, 1> no_environment{nullptr};
    const bool ready = ::dup2(null.get(), STDIN_FILENO) >= 0 && ::dup2(pipe.write_end.get(), STDOUT_FILENO) >= 0 &&
                       ::dup2(null.get(), STDERR_FILENO) >= 0 && ::close_range(STDERR_FILENO + 1, ~0U, 0) == 0;
    if (!ready || !become(identity)) ::_exit(kBecameNobody);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execve(program.c_str(), raw.data(), no_environment.data());
    ::_exit(127);
  }
  if (child < 0) return fail_call(errno, "fork");
  pipe.write_end.reset();
  ProgramOutput out;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits::kSelfTestSecondsMax);
  std::array<char, 4096> buffer{};
  bool in_time = true;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{.fd = pipe.read_end.get(), .events = POLLIN, .revents = 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    in_time = ready > 0;
    if (!in_time) break;
    const ssize_t n = ::read(pipe.read_end.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::size_t room = limits::kSelfTestBytesMax - out.text.size();
    out.text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
  }
  if (!in_time) ::kill(child, SIGKILL);
  const int status = wait_for(child);
  if (!in_time) return base::fail(base::ErrorCode::kBusy, program + ": took too long and was ended");
  if (WIFEXITED(status) && WEXITSTATUS(status) == kBecameNobody)
    return base::fail(base::ErrorCode::kDenied, "could not become uid " + std::to_string(identity.uid));
  if (WIFEXITED(status)) out.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) out.signal = WTERMSIG(status);
  return out;
}

}  // namespace intray::sys
