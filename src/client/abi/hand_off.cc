#include <algorithm>
#include <span>

#include "client/abi/handles.h"
#include "client/hand_off.h"

namespace intray::client::abi {
namespace {

// An exception that cuts a hand-off off says nothing about what is in new/.
constexpr int kLost = INTRAY_OUTCOME_UNKNOWN;

int told(const base::Result<void>& result, intray_error** error) noexcept {
  switch (hand_off_of(result)) {
    case HandOff::kAccepted: return INTRAY_OK;
    case HandOff::kAlready: return INTRAY_ALREADY;
    case HandOff::kNotAccepted:
    case HandOff::kUnknown: break;
  }
  return fail(error, result.error());
}

bool is_for(const intray_job* job, const intray_inbox& inbox) {
  return job != nullptr && job->draft.kind == inbox.kind;
}

inbox::Parcel parcel_of(const intray_job& job) { return {job.draft.name, job.draft.bytes}; }

constexpr std::string_view kWrongJob = "a job is NULL, or of another kind than the inbox";

}  // namespace
#pragma GCC visibility push(default)
extern "C" {

int intray_inbox_open(const char* root, int kind, intray_inbox** inbox, intray_error** error) {
  if (inbox != nullptr) *inbox = nullptr;
  return guarded(error, [&]() -> int {
    const auto of = kind_of(kind);
    if (root == nullptr || inbox == nullptr || !of)
      return fail(error, INTRAY_INVALID_ARGUMENT, "an argument is NULL, or the kind is unknown");
    auto box = inbox::DropBox::open(root, *of);
    if (!box) return fail(error, box.error());
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): a handle's owner is the caller
    *inbox = new intray_inbox{.root = root, .kind = *of, .box = std::move(*box)};
    return INTRAY_OK;
  });
}

void intray_inbox_free(intray_inbox* inbox) {
  delete inbox;  // NOLINT(cppcoreguidelines-owning-memory): a handle's owner is the caller
}

int intray_submit(intray_inbox* inbox, const intray_job* job, intray_error** error) {
  if (error != nullptr) *error = nullptr;
  if (inbox == nullptr || !is_for(job, *inbox)) return fail(error, INTRAY_INVALID_ARGUMENT, kWrongJob);
  std::vector<inbox::Parcel> parcels;
  const int ready = guarded(error, [&]() -> int {
    parcels.push_back(parcel_of(*job));
    return INTRAY_OK;
  });
  if (ready != INTRAY_OK) return ready;
  return guarded(
      error, [&]() -> int { return told(client::hand_over(inbox->box, parcels).front(), error); }, kLost);
}

int intray_submit_batch(intray_inbox* inbox, const intray_job* const* jobs, size_t count, int* results,
                        intray_error** errors) {
  if (inbox == nullptr || (count != 0 && (jobs == nullptr || results == nullptr))) return INTRAY_INVALID_ARGUMENT;
  const auto error_of = [&](std::size_t i) { return errors == nullptr ? nullptr : errors + i; };
  const auto all_fail = [&](int code, std::string_view message) {
    for (std::size_t i = 0; i < count; ++i) results[i] = fail(error_of(i), code, message);
    return code;
  };
  for (std::size_t i = 0; i < count; ++i)
    if (errors != nullptr) errors[i] = nullptr;
  const std::span<const intray_job* const> given(jobs, count);
  if (!std::ranges::all_of(given, [&](const intray_job* job) { return is_for(job, *inbox); }))
    return all_fail(INTRAY_INVALID_ARGUMENT, kWrongJob);

  std::vector<inbox::Parcel> parcels;
  const int ready = guarded(nullptr, [&]() -> int {
    parcels.reserve(count);
    for (const intray_job* job : given) parcels.push_back(parcel_of(*job));
    return INTRAY_OK;
  });
  if (ready != INTRAY_OK) return all_fail(ready, "no memory");

  std::vector<base::Result<void>> done;
  const int handed = guarded(
      nullptr,
      [&]() -> int {
        done = client::hand_over(inbox->box, parcels);
        return INTRAY_OK;
      },
      kLost);
  if (handed != INTRAY_OK) return all_fail(handed, "cut off in the middle: hand the same job over again");
  int worst = INTRAY_OK;
  for (std::size_t i = 0; i < count; ++i) {
    results[i] = told(done[i], error_of(i));
    if (worst == INTRAY_OK && results[i] != INTRAY_ALREADY) worst = results[i];
  }
  return worst;
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace intray::client::abi
