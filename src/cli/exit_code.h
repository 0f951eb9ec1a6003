// Purpose:    how `intray` ends: the codes scripts branch on. And how an executor does, for `intray explain`.
// Thread use: constant data.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "model/state.h"

namespace intray::cli {

inline constexpr int kDone = 0;
inline constexpr int kNo = 1;  // the answer is "no", or something is wrong with what was inspected
inline constexpr int kUsage = 2;
inline constexpr int kBlocked = 3;     // refused or blocked
inline constexpr int kUnreadable = 4;  // the ledger or inbox could not be read
inline constexpr int kTryAgain = 75;   // temporary failure; of a wait: time ran out
inline constexpr int kWaitFailed = 10;
inline constexpr int kWaitRejected = 11;
inline constexpr int kWaitUnknown = 12;

struct ExitDoc {
  int code;
  std::string_view meaning;
};
inline constexpr auto kExitDocs = std::to_array<ExitDoc>({
    {kDone, "done; of a wait: every job SUCCEEDED"},
    {kNo, "the answer is \"no\", or something is wrong with what was inspected"},
    {kUsage, "the command line is wrong"},
    {kBlocked, "refused or blocked"},
    {kUnreadable, "the ledger or the inbox could not be read"},
    {kWaitFailed, "a wait ended with a FAILED job"},
    {kWaitRejected, "a wait ended with a REJECTED job"},
    {kWaitUnknown, "a wait ended with a job whose outcome is unknown: a person must look"},
    {kTryAgain, "a temporary failure, try again; of a wait: time ran out"},
});

inline constexpr auto kExecutorExitDocs = std::to_array<ExitDoc>({
    {0, "a clean stop; with --once every job is SUCCEEDED, FAILED or REJECTED"},
    {1, "with --once: some job waits or is OUTCOME_UNKNOWN"},
    {2, "the command line is wrong"},
    {69, "the ledger, the inbox or the connector is unusable, or the lease ran out unrenewed"},
    {70, "the lock-down or its self-test failed; the log names each check"},
    {75, "the slot's lease is held, or the policy refused it"},
    {76, "another worker took the lease over"},
    {77, "the credential is missing, readable by others, or malformed"},
    {78, "settings, policy or layout are wrong, it was started as root, or the ledger is missing"},
});

// How a wait ends for one job; nullopt (time ran out) is kTryAgain.
int exit_code_of(const std::optional<model::State>& state);
// Of several jobs the worst counts: SUCCEEDED, FAILED, REJECTED, time ran out, OUTCOME_UNKNOWN.
int worse_wait(int a, int b);
// Of a failure to reach ledger or inbox.
int exit_code_of(const base::Error& error);

}  // namespace intray::cli
