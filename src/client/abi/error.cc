#include <algorithm>
#include <array>
#include <functional>

#include "base/escape.h"
#include "client/abi/handles.h"

namespace intray::client::abi {
namespace {

using base::ErrorCode;

// One of each code, made before anybody can run out of memory.
class WithoutWords {
 public:
  WithoutWords() {
    for (int code = 0; auto& error : errors_) {
      error.code = code++;
      error.message = "no memory";  // short enough to need none
    }
  }
  intray_error* of(int code) {
    const bool known = code >= 0 && static_cast<std::size_t>(code) < errors_.size();
    return &errors_.at(static_cast<std::size_t>(known ? code : INTRAY_INTERNAL));
  }
  bool has(const intray_error* error) const {
    return std::greater_equal<>{}(error, errors_.data()) && std::less<>{}(error, errors_.data() + errors_.size());
  }

 private:
  std::array<intray_error, INTRAY_INTERNAL + 1> errors_;
};

WithoutWords& without_words() {
  static WithoutWords errors;
  return errors;
}

int give(intray_error** out, int code, int sys_errno, std::string_view reason, std::string_view message) noexcept {
  if (out == nullptr) return code;
  try {
    auto error = std::make_unique<intray_error>();
    error->code = code;
    error->sys_errno = sys_errno;
    error->reason = reason;
    error->message = message;
    *out = error.release();
  } catch (const std::bad_alloc&) {
    *out = without_words().of(code);
  }
  return code;
}

}  // namespace

int code_of(const base::Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid: return INTRAY_INVALID_ARGUMENT;
    case ErrorCode::kNotFound: return INTRAY_NOT_FOUND;
    case ErrorCode::kExists: return INTRAY_ALREADY;
    case ErrorCode::kBusy: return INTRAY_BUSY;
    case ErrorCode::kNoSpace: return INTRAY_NO_SPACE;
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt: return INTRAY_IO;
    case ErrorCode::kDenied: return INTRAY_DENIED;
    case ErrorCode::kUnsupported: return INTRAY_UNSUPPORTED;
    case ErrorCode::kOutcomeUnknown: return INTRAY_OUTCOME_UNKNOWN;
    case ErrorCode::kStale:
    case ErrorCode::kUnavailable: break;  // nothing that a requester does has them
  }
  return INTRAY_INTERNAL;
}

int fail(intray_error** out, int code, std::string_view message) noexcept { return give(out, code, 0, {}, message); }

int fail(intray_error** out, const base::Error& error) noexcept {
  const int code = code_of(error);
  try {
    return give(out, code, error.sys_errno, {}, base::escape(error.what));
  } catch (...) {
    return fail_without_words(out, code);
  }
}

int fail(intray_error** out, const model::Rejection& rejection) noexcept {
  return give(out, INTRAY_REFUSED, 0, model::to_word(rejection.reason), rejection.detail);
}

int fail_without_words(intray_error** out, int code) noexcept {
  if (out != nullptr) *out = without_words().of(code);
  return code;
}

#pragma GCC visibility push(default)
extern "C" {

int intray_error_code(const intray_error* error) { return error == nullptr ? INTRAY_OK : error->code; }
const char* intray_error_reason(const intray_error* error) {
  return error == nullptr || error->reason.empty() ? nullptr : error->reason.c_str();
}
const char* intray_error_message(const intray_error* error) { return error == nullptr ? "" : error->message.c_str(); }
int intray_error_errno(const intray_error* error) { return error == nullptr ? 0 : error->sys_errno; }

void intray_error_free(intray_error* error) {
  if (without_words().has(error)) return;
  delete error;  // NOLINT(cppcoreguidelines-owning-memory): a handle's owner is the caller
}

const char* intray_version(void) { return INTRAY_VERSION; }

}  // extern "C"
#pragma GCC visibility pop
}  // namespace intray::client::abi
