#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "sys/call.h"
#include "sys/process.h"

namespace intray::sys {
namespace {

constexpr int kChannelFd = 3;
constexpr int kReportFd = 4;       // close-on-exec: closes by itself where exec succeeds
constexpr int kFirstSpareFd = 16;  // sources are moved above everything that is put into place

// Between fork and exec: only async-signal-safe calls, no allocation.
[[noreturn]] void give_up(int report) {
  const int error = errno;
  [[maybe_unused]] const ssize_t n = ::write(report, &error, sizeof error);
  ::_exit(127);
}

[[noreturn]] void become(const char* program, char* const* arguments, int channel, int null, int report, pid_t parent) {
  report = ::fcntl(report, F_DUPFD_CLOEXEC, kFirstSpareFd);
  if (report < 0) ::_exit(127);
  channel = ::fcntl(channel, F_DUPFD_CLOEXEC, kFirstSpareFd);
  null = ::fcntl(null, F_DUPFD_CLOEXEC, kFirstSpareFd);
  if (channel < 0 || null < 0) give_up(report);
  if (::dup2(null, STDIN_FILENO) < 0 || ::dup2(null, STDOUT_FILENO) < 0 || ::dup2(channel, kChannelFd) < 0 ||
      ::dup3(report, kReportFd, O_CLOEXEC) < 0)
    give_up(report);
  if (::close_range(kReportFd + 1, ~0U, 0) != 0) give_up(kReportFd);
  // An ignored signal stays ignored through exec, a blocked one blocked; a program starts with neither.
  for (int signo = 1; signo < NSIG; ++signo) ::signal(signo, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) give_up(kReportFd);
  if (::getppid() != parent) ::_exit(127);  // it died before the line above: nobody would tell us
  std::array<char*, 1> no_environment{nullptr};
  ::execve(program, arguments, no_environment.data());
  give_up(kReportFd);
}

}  // namespace

base::Result<int> spawn(const std::string& program, const std::vector<std::string>& arguments, Fd channel) {
  if (!program.starts_with('/')) return base::fail(base::ErrorCode::kInvalid, program + ": not an absolute path");
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return fail_call(errno, "/dev/null");
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_call(errno, "pipe2");
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);

  std::vector<std::string> words;
  words.reserve(arguments.size() + 1);
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw_words;
  raw_words.reserve(words.size() + 1);
  for (std::string& word : words) raw_words.push_back(word.data());
  raw_words.push_back(nullptr);

  // No signal handler of ours may run in the child before it has reset them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  const int fork_errno = errno;
  if (child == 0) become(program.c_str(), raw_words.data(), channel.get(), null.get(), write_end.get(), parent);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return fail_call(fork_errno, "fork");

  write_end.reset();
  int child_errno = 0;
  ssize_t n = 0;
  do n = ::read(read_end.get(), &child_errno, sizeof child_errno);
  while (n < 0 && errno == EINTR);
  if (n == 0) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return fail_call(child_errno, program + ": exec");
}

}  // namespace intray::sys
