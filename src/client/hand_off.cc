#include "client/hand_off.h"

namespace intray::client {
namespace {

constexpr int kBatchThreads = 8;

}  // namespace

HandOff hand_off_of(const base::Result<void>& result) {
  if (result) return HandOff::kAccepted;
  switch (result.error().code) {
    case base::ErrorCode::kExists: return HandOff::kAlready;
    case base::ErrorCode::kOutcomeUnknown: return HandOff::kUnknown;
    default: return HandOff::kNotAccepted;
  }
}

std::vector<base::Result<void>> hand_over(const inbox::DropBox& box, std::span<const inbox::Parcel> jobs) {
  if (jobs.size() != 1) return inbox::hand_over_batch(box, jobs, kBatchThreads);
  std::vector<base::Result<void>> results(1);  // room first: nothing may fail between the hand-off and telling of it
  results[0] = inbox::hand_over(box, jobs.front());
  return results;
}

}  // namespace intray::client
