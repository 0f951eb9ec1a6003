#include "model/reason.h"

#include <array>

namespace intray::model {
namespace {

// In the order of the enumeration, which the tests hold.
constexpr auto kDocs = std::to_array<ReasonDoc>({
    {Reason::kMalformedJson, "MALFORMED_JSON", EffectPossible::kNo,
     "The job file is not valid JSON, or holds invalid UTF-8, NUL, a lone surrogate, a byte order mark, trailing "
     "bytes or too deep a nesting.",
     "Nothing was sent. The requester hands the job over again with `intray submit`, which writes valid files; "
     "`intray show JOB` names the place that is wrong."},
    {Reason::kNotCanonical, "NOT_CANONICAL", EffectPossible::kNo,
     "The job file is JSON, but its bytes are not the RFC 8785 canonical form of the object it holds.",
     "Nothing was sent. `intray submit FILE` canonicalizes for its users and hands over a correct file."},
    {Reason::kOversized, "OVERSIZED", EffectPossible::kNo, "The job file is larger than 16 KiB, which no legal job is.",
     "Nothing was sent. Ask the requester what it wrote: a job names a commit and carries no content."},
    {Reason::kEmptyFile, "EMPTY_FILE", EffectPossible::kNo,
     "The job file is empty, most often because its writer crashed before the file was synced.",
     "Nothing was sent, and the requester holds no promise for this file. It hands the job over again with `intray"
     " submit`."},
    {Reason::kBadFileType, "BAD_FILE_TYPE", EffectPossible::kNo,
     "The name in new/ was a symlink, FIFO, socket, device or directory, or a file with several links, instead of "
     "a plain file.",
     "Nothing was sent. Look for the owner with `intray log`; a directory stays in new/ until an admin removes it,"
     " and `intray fsck` lists it."},
    {Reason::kBadFileName, "BAD_FILE_NAME", EffectPossible::kNo,
     "The file's name is not `<16 digits>.<job id>.json`, or its job id is not the one inside.",
     "Nothing was sent. Let the requester use `intray submit` or the client library, which name files correctly."},
    {Reason::kBadFileOwner, "BAD_FILE_OWNER", EffectPossible::kNo,
     "The job file belongs to a uid that is not on the list of requesters.",
     "Nothing was sent. If that uid may submit, add it to the requester list in the executor's configuration (see "
     "it with `intray config check`) and restart the executor; otherwise find out who has write access to new/."},
    {Reason::kUnknownVersion, "UNKNOWN_VERSION", EffectPossible::kNo,
     "The job's job_version is not 1, the only one that this executor knows.",
     "Nothing was sent. Use a client of the same release as the executor, or update the executor."},
    {Reason::kUnknownJobType, "UNKNOWN_JOB_TYPE", EffectPossible::kNo,
     "The job's job_type is not the one type that this executor serves.",
     "Nothing was sent. Check that the job went to the right inbox: C5_SAVE_OBJECT belongs to save, "
     "C5_DELETE_OBJECT to delete."},
    {Reason::kUnknownMember, "UNKNOWN_MEMBER", EffectPossible::kNo,
     "The job holds a member that its contract does not have.",
     "Nothing was sent. Remove the member that `intray show JOB` names and submit a new job."},
    {Reason::kMissingMember, "MISSING_MEMBER", EffectPossible::kNo, "The job lacks a member that its contract demands.",
     "Nothing was sent. Add the member that `intray show JOB` names and submit a new job."},
    {Reason::kBadType, "BAD_TYPE", EffectPossible::kNo,
     "A member of the job has the wrong JSON type; types are never converted.",
     "Nothing was sent. Correct the member that `intray show JOB` names and submit a new job."},
    {Reason::kBadValue, "BAD_VALUE", EffectPossible::kNo,
     "A member of the job breaks the rule for its value, for example a UUID in upper case or a shortened commit id.",
     "Nothing was sent. Correct the member that `intray show JOB` names and submit a new job."},
    {Reason::kUnsafePath, "UNSAFE_PATH", EffectPossible::kNo,
     "The job's vault_path breaks a path rule, which the evidence names.",
     "Nothing was sent. Rename the note in git if the path is meant, or add its ending to the allowed extensions "
     "of the executor's configuration if that is what is missing; then submit a new job."},
    {Reason::kPathCollision, "PATH_COLLISION", EffectPossible::kNo,
     "Another path of the same commit differs from the job's only in case, so that both would be one file on a "
     "case-insensitive disk.",
     "Nothing was sent. Rename one of the two notes in git, then submit a job for the new commit."},
    {Reason::kCreatedInFuture, "CREATED_IN_FUTURE", EffectPossible::kNo,
     "The job's created_at is more than 5 minutes ahead of the executor's clock.",
     "Nothing was sent. Compare the clocks of requester and executor (`timedatectl` on both), correct the wrong "
     "one and submit a new job; it may have the same idempotency key."},
    {Reason::kJobTooOld, "JOB_TOO_OLD", EffectPossible::kNo,
     "The job was created longer ago than job.max_age allows when it was admitted.",
     "Nothing was sent. Submit a new job, which may have the same idempotency key; raise `job.max_age` if the executor "
     "is regularly down for longer."},
    {Reason::kStaleMission, "STALE_MISSION", EffectPossible::kNo,
     "The job's mission_id is not on the site's list of active missions.",
     "Nothing was sent. Add the mission to the file that `missions.file` names if it is still active, then submit "
     "a new job; it may have the same idempotency key."},
    {Reason::kJobIdConflict, "JOB_ID_CONFLICT", EffectPossible::kNo,
     "Another job with the same job_id but other bytes was admitted before; that one is untouched.",
     "Nothing was sent for this file. `intray show JOB` shows the first job; the requester must draw a new job_id "
     "for each job."},
    {Reason::kIdempotencyKeyConflict, "IDEMPOTENCY_KEY_CONFLICT", EffectPossible::kNo,
     "Another job used the same idempotency_key for a different request; that one is untouched.",
     "Nothing was sent for this job. The requester must draw a new idempotency_key for each new request and repeat"
     " it only with the same members."},
    {Reason::kUnreadableFile, "UNREADABLE_FILE", EffectPossible::kNo,
     "The executor could not open or read the job file, most often because its mode is not 0644.",
     "Nothing was sent. Let the requester set mode 0644 before the rename, as `intray submit` does; look for disk "
     "errors in the kernel log if the mode is right."},
    {Reason::kWithdrawn, "WITHDRAWN", EffectPossible::kDepends,
     "An admin withdrew the job before it was claimed, with `intray withdraw`.",
     "REJECTED means that nothing was sent; `intray log JOB` names the admin. OUTCOME_UNKNOWN means that an attempt "
     "before a rerun may have had an effect: look at the target, then use `intray resolve`."},
    {Reason::kSourceUnavailable, "SOURCE_UNAVAILABLE", EffectPossible::kNo,
     "The git mirror could not be read, or its last fetch is older than source.max_age.",
     "A SAVE waits and goes on by itself once `git fetch` in the mirror works again; check the mirror's path, "
     "rights and fetch service. A claimed DELETE ends without effect and keeps its approval for a new job."},
    {Reason::kUnknownCommit, "UNKNOWN_COMMIT", EffectPossible::kNo,
     "The commit that the job names does not exist in the mirror, or is no commit.",
     "Nothing was sent. Fetch the mirror if the commit is new, then submit a new job; otherwise correct the commit"
     " id."},
    {Reason::kCommitNotOnBranch, "COMMIT_NOT_ON_BRANCH", EffectPossible::kNo,
     "The commit exists but is neither the head nor an ancestor of a configured branch, so it has no authority.",
     "Nothing was sent. Merge the change, fetch the mirror and submit a new job, or correct the branches in the "
     "executor's configuration (`intray config check` shows them)."},
    {Reason::kUnknownObject, "UNKNOWN_OBJECT", EffectPossible::kNo,
     "The job's path is not a regular file in the named commit: it is missing there, or a symlink, submodule or "
     "directory.",
     "Nothing was sent. Check with `git ls-tree COMMIT -- PATH`, compare the configured repository prefix, and "
     "submit a new job with the right path."},
    {Reason::kObjectIdMismatch, "OBJECT_ID_MISMATCH", EffectPossible::kNo,
     "The object id found in git is not the one that the job names.",
     "Nothing was sent. Check `object_id.from` and its key in the executor's configuration and the note's front "
     "matter; `intray submit save` fills in the right id."},
    {Reason::kStateMismatch, "STATE_MISMATCH", EffectPossible::kNo,
     "The note's state in git is not the job's expected_state.",
     "Nothing was sent. Compare the note's status line at that commit with the job (`intray show JOB`) and submit "
     "a new job for the state that is meant."},
    {Reason::kProvenanceMismatch, "PROVENANCE_MISMATCH", EffectPossible::kNo,
     "The provenance hash recomputed from git is not the one in the job.",
     "Nothing was sent. The requester hashed other content, another path, id, state or commit; let it build the "
     "job with `intray submit`."},
    {Reason::kStaleSource, "STALE_SOURCE", EffectPossible::kNo,
     "The job names a version that the branch has left behind, or a note that git has deleted since.",
     "Nothing was sent. Submit a job for the branch's head; set `save.historical = true` only where a planner "
     "saves commit by commit."},
    {Reason::kContentNotText, "CONTENT_NOT_TEXT", EffectPossible::kNo,
     "The note's content in git is not valid UTF-8 or holds NUL, as an attachment does.",
     "Nothing was sent. Convert the note to UTF-8 in git, or let the requester leave attachments out."},
    {Reason::kContentTooLarge, "CONTENT_TOO_LARGE", EffectPossible::kNo,
     "The note, or the request that would carry it, is larger than content.max_bytes allows.",
     "Nothing was sent. Split the note, or raise `content.max_bytes` if the receiver takes such notes."},
    {Reason::kSecretDetected, "SECRET_DETECTED", EffectPossible::kNo,
     "The note holds a private key block, a configured secret pattern or the executor's own credential.",
     "Nothing was sent. Remove the secret from the note, replace that secret everywhere, and submit a job for the "
     "new commit."},
    {Reason::kStillPresentAtHead, "STILL_PRESENT_AT_HEAD", EffectPossible::kNo,
     "The note that is to be deleted still exists at the head of a configured branch.",
     "Nothing was sent. Delete it on every configured branch, fetch the mirror, and submit a new job with an "
     "approval that names the deleting commit."},
    {Reason::kNotDeletedInCommit, "NOT_DELETED_IN_COMMIT", EffectPossible::kNo,
     "The commit that the job names did not delete the note: it is absent from the commit's first parent or "
     "present in the commit.",
     "Nothing was sent. Find the deleting commit with `git log --diff-filter=D -- PATH`, then submit a job and an "
     "approval that name it."},
    {Reason::kAmbiguousObject, "AMBIGUOUS_OBJECT", EffectPossible::kNo,
     "The object id that is to be deleted lives on at another path at a branch's head, which is a move and no "
     "deletion.",
     "Nothing was sent. Give the other note an id of its own if both are meant; for a move, submit a SAVE job for "
     "the new path."},
    {Reason::kApprovalMissing, "APPROVAL_MISSING", EffectPossible::kNo,
     "No verified approval for this DELETE was in the ledger when its gates were evaluated.",
     "Nothing was sent. Let the approval be signed, hand it over with `intray approval submit` before the job, and"
     " submit a new job."},
    {Reason::kApprovalMalformed, "APPROVAL_MALFORMED", EffectPossible::kNo,
     "The approval file is not a canonical envelope with exactly the members that its contract lists.",
     "Nothing was sent. Look at the file with `intray approval show`, build it again with `intray approval new` "
     "and have it signed again."},
    {Reason::kApprovalBadSignature, "APPROVAL_BAD_SIGNATURE", EffectPossible::kNo,
     "A signature in the approval's envelope does not verify over the approval's bytes.",
     "Nothing was sent. Check the file with `intray approval verify` and have the unchanged document signed again."},
    {Reason::kApprovalUntrustedKey, "APPROVAL_UNTRUSTED_KEY", EffectPossible::kNo,
     "The approval is signed by a key that is not trusted now, or not for this object or path.",
     "Nothing was sent. Have it signed with a trusted key, or add the key to the executor's file of public keys "
     "after checking its fingerprint with its owner."},
    {Reason::kApprovalMismatch, "APPROVAL_MISMATCH", EffectPossible::kNo,
     "The approval and the job, or git, differ in a member that must agree exactly.",
     "Nothing was sent. Compare `intray show JOB` with `intray approval show`, then have an approval signed for "
     "exactly this request."},
    {Reason::kApprovalNotYetValid, "APPROVAL_NOT_YET_VALID", EffectPossible::kNo,
     "The approval's issued_at lies in the future of the executor's clock.",
     "Nothing was sent. Check the clocks of the signer's and the executor's machines, then submit a new job once "
     "the approval is valid."},
    {Reason::kApprovalExpired, "APPROVAL_EXPIRED", EffectPossible::kNo,
     "The approval's expires_at has passed, or its lifetime is longer than approval.max_lifetime.",
     "Nothing was sent. Have a new approval signed; if the executor's clock was wrongly ahead, set it right and "
     "run `intray clock accept`."},
    {Reason::kApprovalConsumed, "APPROVAL_CONSUMED", EffectPossible::kNo,
     "The approval was used by an earlier attempt, and an approval authorizes one attempt for ever.",
     "This job sent nothing; the earlier one may have. Find it with `intray log`, and have a new approval signed "
     "if the deletion is still wanted."},
    {Reason::kApprovalRevoked, "APPROVAL_REVOKED", EffectPossible::kNo,
     "The approval, or a key that signed it, is on the site's deny list.",
     "Nothing was sent. Ask whoever revoked it; a new deletion needs a new approval by a key that is trusted."},
    {Reason::kNonceReused, "NONCE_REUSED", EffectPossible::kNo,
     "The approval's nonce or id was seen before with other bytes.",
     "Nothing was sent. Treat it as a possible forgery: find both documents with `intray log`, then have a new "
     "approval made with `intray approval new`."},
    {Reason::kCredentialMissing, "CREDENTIAL_MISSING", EffectPossible::kNo,
     "The executor's credential file is missing, empty, malformed or readable by others.",
     "Nothing was sent. Correct the file that `intray config check` names (mode 0400, owned by the executor, or "
     "LoadCredential) and start the executor again."},
    {Reason::kReceiverUnavailable, "RECEIVER_UNAVAILABLE", EffectPossible::kDepends,
     "No connection to the receiver could be made, or it broke before the first byte of a request.",
     "This attempt sent nothing. A waiting SAVE goes on by itself when the receiver answers again; a DELETE in "
     "OUTCOME_UNKNOWN is ended with `intray resolve` after a look at the receiver (`delete.unavailable` decides "
     "which it is)."},
    {Reason::kReceiverTls, "RECEIVER_TLS", EffectPossible::kDepends,
     "TLS with the receiver failed: its certificate, name, CA or protocol version was not accepted.",
     "This attempt sent nothing, and the executor is suspended. Correct the receiver's certificate or the CA file "
     "in the executor's configuration, then run `intray resume`; a DELETE in OUTCOME_UNKNOWN needs `intray "
     "resolve`."},
    {Reason::kReceiverUnauthorized, "RECEIVER_UNAUTHORIZED", EffectPossible::kNo,
     "The receiver answered 401: it does not take the executor's credential.",
     "Nothing was changed, and the executor is suspended. Put the right credential into its file and restart the "
     "executor (the credential is read once), then submit the job again."},
    {Reason::kReceiverForbidden, "RECEIVER_FORBIDDEN", EffectPossible::kNo,
     "The receiver answered 403: the executor's credential may not do this.",
     "Nothing was changed, and the executor is suspended. Give the credential the right at the receiver, run "
     "`intray resume`, then submit the job again."},
    {Reason::kTargetMissing, "TARGET_MISSING", EffectPossible::kDepends,
     "The receiver does not have the target: it answered 404 or 410, or a DELETE's read found nothing there.",
     "Nothing was changed by this attempt; check the receiver's base path and URL if every job ends so. A rerun "
     "DELETE in OUTCOME_UNKNOWN may have been done by the first request: end it with `intray resolve JOB --as "
     "applied` once you are sure."},
    {Reason::kTargetConflict, "TARGET_CONFLICT", EffectPossible::kNo,
     "The receiver answered 409 or 412: the target is in a state that it does not let this request change.",
     "Nothing was changed. Look at the target in the receiver, clear the conflict there, then submit a new job."},
    {Reason::kTargetDrift, "TARGET_DRIFT", EffectPossible::kNo,
     "The receiver holds other content than the version whose deletion was approved.",
     "Nothing was deleted. Somebody changed the note in the receiver: bring that change to git or undo it, then "
     "have a new deletion approved."},
    {Reason::kReceiverRefused, "RECEIVER_REFUSED", EffectPossible::kNo,
     "The receiver refused the request with an answer that proves it changed nothing, such as 400, 413, 422 or 429.",
     "Nothing was changed. `intray show JOB` names the status; look up the cause in the receiver's log, then "
     "submit a new job (429: a SAVE retries by itself)."},
    {Reason::kReceiverError, "RECEIVER_ERROR", EffectPossible::kDepends,
     "The receiver answered with an error that leaves open whether it changed something, such as 500, 502 or 503.",
     "FAILED means that a read-back found no effect; in OUTCOME_UNKNOWN there may be one: look at the receiver and"
     " its log, then use `intray resolve`. A SAVE that is RETRYABLE reads back and goes on by itself."},
    {Reason::kResponseMalformed, "RESPONSE_MALFORMED", EffectPossible::kYes,
     "The receiver's answer was not what a success looks like (other body, redirect, 1xx only), and a read-back "
     "did not settle it.",
     "There may be an effect. Look for a proxy or login page between executor and receiver, look at the target, "
     "then use `intray resolve`."},
    {Reason::kResponseLost, "RESPONSE_LOST", EffectPossible::kYes,
     "The request was sent, and the connection broke, timed out or brought an answer that could not be read.",
     "There may be an effect. A SAVE reads back and goes on by itself; for a job in OUTCOME_UNKNOWN look at the "
     "target in the receiver, then use `intray resolve`."},
    {Reason::kVerifyMismatch, "VERIFY_MISMATCH", EffectPossible::kYes,
     "The receiver reported success, but a read-back found something else at the target.",
     "There was most likely an effect. Compare the target with git: somebody may have written after us, or the "
     "receiver changes content; then use `intray resolve`."},
    {Reason::kVerifyUnavailable, "VERIFY_UNAVAILABLE", EffectPossible::kYes,
     "The receiver reported success, but no read-back got an answer before verify.deadline.",
     "There was most likely an effect. Read the target once the receiver answers, then use `intray resolve`."},
    {Reason::kRetriesExhausted, "RETRIES_EXHAUSTED", EffectPossible::kDepends,
     "The job used up its attempts (max_attempts) without a confirmed effect.",
     "FAILED means that no attempt had an effect: find the cause with `intray show JOB` and submit a new job. "
     "OUTCOME_UNKNOWN means that one may have: look at the target, then use `intray resolve`."},
    {Reason::kDeadlineExceeded, "DEADLINE_EXCEEDED", EffectPossible::kDepends,
     "The job's time ran out (job.deadline) before its effect was confirmed.",
     "REJECTED and FAILED mean that there was no effect: remove what made it wait (`intray health`) and submit a "
     "new job. OUTCOME_UNKNOWN means that an attempt may have had one: look at the target, then use `intray "
     "resolve`."},
    {Reason::kLedgerUnavailable, "LEDGER_UNAVAILABLE", EffectPossible::kNo,
     "The ledger could not be opened or written: it is locked, full, read-only or damaged.",
     "Nothing is sent without it. Check disk space, mount and rights of the ledger directory; the executor goes on"
     " by itself when writes work, and a damaged ledger is restored from `intray backup`."},
    {Reason::kInvalidTransition, "INVALID_TRANSITION", EffectPossible::kNo,
     "Somebody asked for a move that the table of states does not have; it was refused and changed nothing.",
     "Look at the refused move with `intray log JOB`. It points at a wrong tool, a manual edit of the ledger or a "
     "fault of ours: report it."},
    {Reason::kLeaseExpired, "LEASE_EXPIRED", EffectPossible::kNo,
     "The worker's lease or execution grant ran out before the request's first byte, so the request was not sent.",
     "A SAVE is tried again by itself; a DELETE ends FAILED and needs a new approval. If it recurs, look for a "
     "suspended or overloaded machine."},
    {Reason::kWorkerDied, "WORKER_DIED", EffectPossible::kYes,
     "The worker that held the job died, and nobody else can say how far it came.",
     "There may be an effect. Look at the target in the receiver and at `intray show JOB`, then use `intray "
     "resolve`; the executor's log says why it died."},
    {Reason::kStaleEpoch, "STALE_EPOCH", EffectPossible::kNo,
     "A worker wrote under an epoch that a successor has replaced; the write was refused.",
     "Nothing to do for the job: the successor goes on with it. If no takeover was meant, look for two executors "
     "on one slot or a machine that was paused (`intray log`)."},
    {Reason::kGateBlocked, "GATE_BLOCKED", EffectPossible::kNo,
     "The mutation gate is blocked, by an admin or because markers and ledger disagree after a restore.",
     "Nothing is sent while it is blocked. `intray gate status` says why; `intray reconcile start` begins the way "
     "to open it again."},
    {Reason::kMarkerUnavailable, "MARKER_UNAVAILABLE", EffectPossible::kNo,
     "The marker that must precede every attempt could not be written.",
     "Nothing was sent. Check space, mount and rights of the directory that `markers.dir` names; waiting jobs go "
     "on by themselves."},
    {Reason::kPoisonJob, "POISON_JOB", EffectPossible::kDepends,
     "The job's processing killed the worker as often as poison.solo_deaths allows, running alone.",
     "REJECTED means that no attempt was ever made; OUTCOME_UNKNOWN means that one may have had an effect: look at"
     " the target, then use `intray resolve`. Keep the file and the core dump and report them."},
    {Reason::kLeaseHeld, "LEASE_HELD", EffectPossible::kNo,
     "The identity lease of this slot is held by another process whose lease has not run out.",
     "Nothing was sent. Wait until it is released or has expired, or give this process a free slot; `intray "
     "health` shows the holder."},
    {Reason::kTakeoverRequired, "TAKEOVER_REQUIRED", EffectPossible::kNo,
     "The slot's identity lease has expired or was released, and plain acquisition never recovers such a lease.",
     "Nothing was sent. The executor takes it over by itself where the policy allows it: check `policy.toml` if it"
     " does not."},
    {Reason::kTakeoverDenied, "TAKEOVER_DENIED", EffectPossible::kNo,
     "The site's policy does not let this process take over the slot's identity lease.",
     "Nothing was sent. Add the slot and its takeover right to `policy.toml`; the executor's log names the missing"
     " line."},
    {Reason::kEpochMismatch, "EPOCH_MISMATCH", EffectPossible::kNo,
     "A takeover named an epoch that is no longer the current one: somebody else was faster.",
     "Nothing was sent. Nothing to do if another process holds the slot now (`intray health`); otherwise start the"
     " executor again."},
    {Reason::kStaleLease, "STALE_LEASE", EffectPossible::kNo,
     "The process used an identity lease that was released or replaced.",
     "Nothing was sent under it. The process stops by itself and its successor goes on; look for a paused machine "
     "if no takeover was meant."},
    {Reason::kPolicyDenied, "POLICY_DENIED", EffectPossible::kNo,
     "The site's policy file does not allow this lease or grant operation; without a policy everything is refused.",
     "Nothing was sent. Add the line that the executor's log names to `policy.toml`, or write a new file with "
     "`intray init`."},
    {Reason::kGrantDenied, "GRANT_DENIED", EffectPossible::kNo,
     "The execution grant did not hold when the request was about to leave: wrong process, scope, lease or epoch, "
     "or used before.",
     "Nothing was sent. `intray log JOB` names the check that failed; a restart of the executor draws new grants."},
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kDocs.size(); ++i)
    if (static_cast<std::size_t>(kDocs[i].reason) != i) return false;
  return kDocs.back().reason == Reason::kGrantDenied;
}
static_assert(in_order());

struct ResultDoc {
  ResultWord result;
  std::string_view word;
  std::string_view text;
};

constexpr auto kResults = std::to_array<ResultDoc>({
    {ResultWord::kApplied, "APPLIED", "The receiver took the request, and a read-back confirmed the effect."},
    {ResultWord::kAlreadyAtTarget, "ALREADY_AT_TARGET",
     "The receiver already held exactly what was meant, so nothing was sent."},
    {ResultWord::kIdempotentReplay, "IDEMPOTENT_REPLAY",
     "An earlier job made the same request, and this one ended as that one did without a request of its own."},
    {ResultWord::kObservedApplied, "OBSERVED_APPLIED",
     "The answer left the outcome open, and a read-back found the effect in place."},
    {ResultWord::kResolvedApplied, "RESOLVED_APPLIED",
     "The outcome was unknown, and an admin resolved it as applied, with evidence."},
    {ResultWord::kResolvedNotApplied, "RESOLVED_NOT_APPLIED",
     "The outcome was unknown, and an admin resolved it as not applied, with evidence."},
    {ResultWord::kNoEffect, "NO_EFFECT", "It is confirmed that no attempt had an effect."},
    {ResultWord::kDeleteDenied, "DELETE_DENIED", "A gate refused the DELETE, and nothing was sent."},
    {ResultWord::kRefused, "REFUSED", "The job was refused by a rule or a gate, and nothing was sent."},
    {ResultWord::kUnknown, "UNKNOWN",
     "Nobody can say yet whether there was an effect; it stays so until a person resolves it with `intray resolve`."},
});

constexpr bool results_in_order() {
  for (std::size_t i = 0; i < kResults.size(); ++i)
    if (static_cast<std::size_t>(kResults[i].result) != i) return false;
  return kResults.back().result == ResultWord::kUnknown;
}
static_assert(results_in_order());

}  // namespace

std::span<const ReasonDoc> all_reasons() { return kDocs; }

const ReasonDoc& doc_of(Reason reason) { return kDocs.at(static_cast<std::size_t>(reason)); }

std::string_view to_word(Reason reason) { return doc_of(reason).word; }

bool is_about_job_alone(Reason reason) {
  switch (reason) {
    case Reason::kCreatedInFuture:
    case Reason::kJobTooOld:
    case Reason::kStaleMission:
    case Reason::kDeadlineExceeded: return true;
    default: return false;
  }
}

std::optional<Reason> parse_reason(std::string_view word) {
  for (const ReasonDoc& doc : kDocs)
    if (doc.word == word) return doc.reason;
  return std::nullopt;
}

std::string_view to_word(ResultWord result) { return kResults.at(static_cast<std::size_t>(result)).word; }

std::optional<ResultWord> parse_result(std::string_view word) {
  for (const ResultDoc& doc : kResults)
    if (doc.word == word) return doc.result;
  return std::nullopt;
}

std::string_view explain(ResultWord result) { return kResults.at(static_cast<std::size_t>(result)).text; }

}  // namespace intray::model
