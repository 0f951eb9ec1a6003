// Purpose:    the closed enumerations a person or a client meets: reason codes and result words, with their
// documentation. Trust:      free text never stands alone as an error; a code does. Codes are compared by exact bytes.
// Thread use: pure.
//
// Each code has one entry in reason.cc that says what happened, whether an effect is possible, and what a person can
// do; `intray explain CODE` prints it. Words are stable: ledgers, receipts, file names and scripts hold them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace intray::model {

enum class Reason {
  // Job and admission
  kMalformedJson,
  kNotCanonical,
  kOversized,
  kEmptyFile,
  kBadFileType,
  kBadFileName,
  kBadFileOwner,
  kUnknownVersion,
  kUnknownJobType,
  kUnknownMember,
  kMissingMember,
  kBadType,
  kBadValue,
  kUnsafePath,
  kPathCollision,
  kCreatedInFuture,
  kJobTooOld,
  kStaleMission,
  kJobIdConflict,
  kIdempotencyKeyConflict,
  kUnreadableFile,
  kWithdrawn,
  // Sources
  kSourceUnavailable,
  kUnknownCommit,
  kCommitNotOnBranch,
  kUnknownObject,
  kObjectIdMismatch,
  kStateMismatch,
  kProvenanceMismatch,
  kStaleSource,
  kContentNotText,
  kContentTooLarge,
  kSecretDetected,
  kStillPresentAtHead,
  kNotDeletedInCommit,
  kAmbiguousObject,
  // Approval
  kApprovalMissing,
  kApprovalMalformed,
  kApprovalBadSignature,
  kApprovalUntrustedKey,
  kApprovalMismatch,
  kApprovalNotYetValid,
  kApprovalExpired,
  kApprovalConsumed,
  kApprovalRevoked,
  kNonceReused,
  // Receiver
  kCredentialMissing,
  kReceiverUnavailable,
  kReceiverTls,
  kReceiverUnauthorized,
  kReceiverForbidden,
  kTargetMissing,
  kTargetConflict,
  kTargetDrift,
  kReceiverRefused,
  kReceiverError,
  kResponseMalformed,
  kResponseLost,
  kVerifyMismatch,
  kVerifyUnavailable,
  kRetriesExhausted,
  kDeadlineExceeded,
  // Engine
  kLedgerUnavailable,
  kInvalidTransition,
  kLeaseExpired,
  kWorkerDied,
  kStaleEpoch,
  kGateBlocked,
  kMarkerUnavailable,
  kPoisonJob,
  kLeaseHeld,
  kTakeoverRequired,
  kTakeoverDenied,
  kEpochMismatch,
  kStaleLease,
  kPolicyDenied,
  kGrantDenied,
};

// Whether a job that ended with this reason can have changed the receiver.
enum class EffectPossible { kNo, kYes, kDepends };

struct ReasonDoc {
  Reason reason;
  std::string_view word;  // "NOT_CANONICAL"
  EffectPossible effect;
  std::string_view what_happened;  // one sentence
  std::string_view what_to_do;     // one or two sentences, naming the command where there is one
};

// All of them, in the order of the enumeration.
std::span<const ReasonDoc> all_reasons();
const ReasonDoc& doc_of(Reason reason);
std::string_view to_word(Reason reason);
std::optional<Reason> parse_reason(std::string_view word);
// Whether a job that was rejected with this reason, untried, was refused for what it is itself (its time, its mission),
// not for what it asks for: then the next job with its idempotency key is a first one, not a replay of the refusal.
bool is_about_job_alone(Reason reason);

// How a final job ended, in one word.
enum class ResultWord {
  kApplied,
  kAlreadyAtTarget,
  kIdempotentReplay,
  kObservedApplied,
  kResolvedApplied,
  kResolvedNotApplied,
  kNoEffect,
  kDeleteDenied,
  kRefused,
  kUnknown,
};

std::string_view to_word(ResultWord result);
std::optional<ResultWord> parse_result(std::string_view word);
std::string_view explain(ResultWord result);  // one sentence

}  // namespace intray::model
