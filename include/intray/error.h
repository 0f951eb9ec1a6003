// Purpose:    failures as values, for the C++ side of the library.
// Process:    a requester's.
// Thread use: values.
//
// The C++ headers (error.h, job.h, submit.h, receipt.h) are C++17 and hold nothing but calls of intray.h: what crosses
// into libintray.so is C alone, so that compiler, standard and standard library of the caller are the caller's own
// choice. Nothing here throws but std::bad_alloc; the contracts of intray.h hold.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "intray.h"

namespace intray {

// Why something was not done. Codes that this header doesn't know are kept as they are.
enum class Code {
  kOutcomeUnknown = INTRAY_OUTCOME_UNKNOWN,  // of a hand-off: perhaps in new/, perhaps not durable. Hand it over again
  kTimeout = INTRAY_TIMEOUT,                 // of a wait: no receipt yet
  kNoneLeft = INTRAY_NONE_LEFT,              // of a waiter: every job's receipt was given
  kRefused = INTRAY_REFUSED,                 // the job breaks a rule of its contract: reason
  kInvalidArgument = INTRAY_INVALID_ARGUMENT,
  kNotFound = INTRAY_NOT_FOUND,
  kDenied = INTRAY_DENIED,
  kNoSpace = INTRAY_NO_SPACE,
  kIo = INTRAY_IO,
  kBusy = INTRAY_BUSY,
  kUnsupported = INTRAY_UNSUPPORTED,
  kNoMemory = INTRAY_NO_MEMORY,
  kInternal = INTRAY_INTERNAL
};

struct Error {
  Code code = Code::kInternal;
  std::string reason;   // "UNSAFE_PATH"; "" unless the code is kRefused
  std::string message;  // one line for a person; what it quotes is escaped
  int sys_errno = 0;    // 0: none
};

// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  explicit operator bool() const { return value_.has_value(); }
  // Requires a value.
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  // Requires none.
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_;
};

namespace detail {

// Takes over what a call of C gave with its code.
inline Error take_error(int code, intray_error* error) {
  Error out;
  out.code = static_cast<Code>(code);
  if (error == nullptr) return out;
  struct Guard {
    intray_error* error;
    ~Guard() { intray_error_free(error); }
  } const guard{error};
  if (const char* const reason = intray_error_reason(error)) out.reason = reason;
  out.message = intray_error_message(error);
  out.sys_errno = intray_error_errno(error);
  return out;
}

}  // namespace detail
}  // namespace intray
