// Purpose:    expected failures as values: Result<T> and the Error it carries.
// Trust:      Error::what may quote untrusted bytes; whoever prints it escapes it (base/escape.h).
// Thread use: values only, no shared state.
//
// A code says what the caller should do next, never where the failure came from. A new code is added only
// when some caller would act on it; the place and the cause go into `what`.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace intray::base {

enum class ErrorCode {
  kInvalid,         // the input is wrong: fix it; trying again changes nothing
  kNotFound,        // it is not there (any more): a counted race or a stale name, never a crash
  kExists,          // the name is taken: nothing was changed
  kBusy,            // somebody else holds it: try again soon
  kNoSpace,         // no room (disk, quota, inodes): keep what there is, back off, resume when writes work
  kIo,              // a write or sync failed: what is on disk is not known; stop using it and reopen
  kDenied,          // permissions or layout: tell the admin; retrying is useless until something changes
  kCorrupt,         // the bytes there break their own rules: quarantine, do not believe
  kStale,           // a compare-and-swap lost, or the epoch moved on: re-read, drop the claim
  kUnavailable,     // a dependency is down: wait and try again
  kUnsupported,     // this platform or version can't do it
  kOutcomeUnknown,  // it may or may not have happened: look before doing anything
};

std::string_view to_word(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  int sys_errno = 0;  // the errno behind it, 0 if there was none
  std::string what;   // which thing, which rule, what was found; one line, without a trailing full stop
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string what, int sys_errno = 0) {
  return std::unexpected<Error>(Error{code, sys_errno, std::move(what)});
}

// Turns an errno into an Error: "<what>: <strerror text>". ENOENT is kNotFound, EEXIST kExists, EACCES, EPERM and
// EROFS kDenied, ENOSPC and EDQUOT kNoSpace, EAGAIN and EINTR kBusy, EIO kIo, ENOSYS and EOPNOTSUPP kUnsupported,
// EINVAL and ENAMETOOLONG kInvalid; everything else kIo.
[[nodiscard]] std::unexpected<Error> fail_errno(int sys_errno, std::string what);

// "<context>: <what>", same code and errno: names the larger thing that failed because of a smaller one.
[[nodiscard]] Error with_context(Error error, std::string_view context);

}  // namespace intray::base

// Value of a Result, or return its error from the enclosing function.
#define INTRAY_TRY(expr)                                                            \
  __extension__({                                                                   \
    auto intray_result_ = (expr);                                                   \
    if (!intray_result_) return std::unexpected(std::move(intray_result_).error()); \
    std::move(intray_result_).value();                                              \
  })
