#include "sys/call.h"

namespace intray::sys {

std::unexpected<base::Error> fail_call(int sys_errno, std::string what) {
  auto failure = base::fail_errno(sys_errno, std::move(what));
  switch (sys_errno) {
    case ELOOP:
    case ENOTDIR:
    case EISDIR:
    case ENXIO:
    case ENOTEMPTY:
    case ESPIPE: failure.error().code = base::ErrorCode::kInvalid; break;
    case EXDEV: failure.error().code = base::ErrorCode::kDenied; break;
    case EMFILE:
    case ENFILE:
    case ENOMEM: failure.error().code = base::ErrorCode::kBusy; break;
    case EFBIG: failure.error().code = base::ErrorCode::kNoSpace; break;
    default: break;
  }
  return failure;
}

}  // namespace intray::sys
