#include "cli/exit_code.h"

#include <algorithm>

namespace intray::cli {
namespace {

constexpr auto kWaitOrder = std::to_array({kDone, kWaitFailed, kWaitRejected, kTryAgain, kWaitUnknown});

}  // namespace

int exit_code_of(const std::optional<model::State>& state) {
  if (!state) return kTryAgain;
  switch (*state) {
    case model::State::kSucceeded: return kDone;
    case model::State::kFailed: return kWaitFailed;
    case model::State::kRejected: return kWaitRejected;
    case model::State::kUnknown: return kWaitUnknown;
    default: return kTryAgain;
  }
}

int worse_wait(int a, int b) { return std::ranges::find(kWaitOrder, a) < std::ranges::find(kWaitOrder, b) ? b : a; }

int exit_code_of(const base::Error& error) {
  using base::ErrorCode;
  switch (error.code) {
    case ErrorCode::kBusy:
    case ErrorCode::kNoSpace:
    case ErrorCode::kUnavailable:
    case ErrorCode::kOutcomeUnknown: return kTryAgain;
    default: return kUnreadable;
  }
}

}  // namespace intray::cli
