// without_landlock ERRNO PROGRAM [ARGUMENT...]: runs the program as on a kernel that has no Landlock (ENOSYS) or has it
// switched off at boot (EOPNOTSUPP), by a filter that answers landlock_create_ruleset with that.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

constexpr unsigned kCreateRuleset = 444;

sock_filter load(unsigned offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
sock_filter answer(unsigned action) { return {BPF_RET | BPF_K, 0, 0, action}; }
sock_filter skip_unless_equal(unsigned value, unsigned char skip) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, skip, value};
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const unsigned error = std::strcmp(arguments[1], "ENOSYS") == 0 ? ENOSYS : EOPNOTSUPP;
  std::array<sock_filter, 4> filter{load(offsetof(seccomp_data, nr)), skip_unless_equal(kCreateRuleset, 1),
                                    answer(SECCOMP_RET_ERRNO | error), answer(SECCOMP_RET_ALLOW)};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("without_landlock");
    return 2;
  }
  ::execv(arguments[2], arguments + 2);
  std::perror(arguments[2]);
  return 2;
}
