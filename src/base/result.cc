#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace intray::base {
namespace {

ErrorCode code_of(int sys_errno) {
  switch (sys_errno) {
    case ENOENT: return ErrorCode::kNotFound;
    case EEXIST: return ErrorCode::kExists;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::kDenied;
    case ENOSPC:
    case EDQUOT: return ErrorCode::kNoSpace;
    case EAGAIN:
    case EINTR: return ErrorCode::kBusy;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorCode::kUnsupported;
    case EINVAL:
    case ENAMETOOLONG: return ErrorCode::kInvalid;
    default: return ErrorCode::kIo;
  }
}

}  // namespace

std::string_view to_word(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kNotFound: return "not found";
    case ErrorCode::kExists: return "exists";
    case ErrorCode::kBusy: return "busy";
    case ErrorCode::kNoSpace: return "no space";
    case ErrorCode::kIo: return "i/o error";
    case ErrorCode::kDenied: return "denied";
    case ErrorCode::kCorrupt: return "corrupt";
    case ErrorCode::kStale: return "stale";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kOutcomeUnknown: return "outcome unknown";
  }
  std::abort();
}

std::unexpected<Error> fail_errno(int sys_errno, std::string what) {
  what += ": ";
  what += std::strerror(sys_errno);  // NOLINT(concurrency-mt-unsafe): one thread per process
  return std::unexpected<Error>(Error{code_of(sys_errno), sys_errno, std::move(what)});
}

Error with_context(Error error, std::string_view context) {
  error.what.insert(0, std::string(context) + ": ");
  return error;
}

}  // namespace intray::base
