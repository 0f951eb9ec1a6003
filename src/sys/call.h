// Purpose:    how sys makes a system call: the fault point, the restart after EINTR, the errno as an Error.
// Thread use: pure apart from the call itself.
//
// Internal to sys.
#pragma once

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "sys/fault.h"

namespace intray::sys {

// base::fail_errno, with what the caller of a file call should do about the errnos that base leaves as kIo:
//   ELOOP, ENOTDIR, EISDIR, ENXIO, ENOTEMPTY, ESPIPE   kInvalid   the thing is of another kind than asked for
//   EXDEV                                              kDenied    the layout is wrong
//   EMFILE, ENFILE, ENOMEM                             kBusy      of this moment, not of the file
//   EFBIG                                              kNoSpace
std::unexpected<base::Error> fail_call(int sys_errno, std::string what);

// Runs `call` (which returns -1 and sets errno on failure) until it isn't interrupted. The fault point may answer in
// its place. Returns what the call returned, errno set.
template <class Call>
auto make_call(fault::Op op, Call call) {
  using Return = decltype(call());
  while (true) {
    const fault::Verdict verdict = fault::check(op);
    if (verdict.error != 0) {
      if (verdict.done_anyway) static_cast<void>(call());
      errno = verdict.error;
      if (verdict.error == EINTR) continue;
      return static_cast<Return>(-1);
    }
    if (verdict.skipped) return Return{0};
    const Return answer = call();
    if (answer >= 0 || errno != EINTR) return answer;
  }
}

}  // namespace intray::sys
