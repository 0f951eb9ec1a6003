// Purpose: every bound of the product, with its unit in the name and its reason beside it. Settings
// (config/settings.h) may tighten or widen some of them; nothing else in the tree holds a bound.
// GCC's own <limits.h> looks for the C library's along the quote path too and would find this file: it is passed on.
#ifdef _GCC_NEXT_LIMITS_H
#pragma GCC system_header
#include_next <limits.h>
#elif !defined(INTRAY_LIMITS_H)
#define INTRAY_LIMITS_H

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace intray::limits {

// --- job contract (model, inbox) ---
inline constexpr std::size_t kJobFileBytesMax =
    16 * 1024;                           // the largest legal job has a 1024-byte path and needs under 2 KiB
inline constexpr int kJsonDepthMax = 4;  // a job is flat; 4 leaves room for later contracts
inline constexpr std::size_t kVaultPathBytesMax =
    1024;  // and 255 a segment: what ext4, xfs and the receiver's host take
inline constexpr std::size_t kPathSegmentBytesMax = 255;
inline constexpr std::size_t kObjectIdBytesMax = 128;
inline constexpr std::size_t kStateWordBytesMax = 64;
inline constexpr std::size_t kExcerptBytesMax = 40;  // of untrusted text in one message: enough to recognize it
inline constexpr std::int64_t kCreatedAheadMax_us =
    300'000'000;  // 5 minutes of clock skew between requester and executor

// --- sys ---
inline constexpr std::size_t kDirBufferBytes = 32 * 1024;  // one getdents64: some 400 job names, what glibc uses too
inline constexpr std::size_t kInotifyBufferBytes = 64 * 1024;  // about 700 events of job names a read
inline constexpr int kInotifyReadsMax = 64;   // a call; past the kernel's default queue of 16384 events
inline constexpr int kEventsPerWaitMax = 64;  // a flood on some descriptors leaves room for timers
inline constexpr std::size_t kProcFileBytesMax =
    1024 * 1024;                                    // a file of /proc; mountinfo of a busy host is the largest
inline constexpr int kDescriptorsPerPacketMax = 8;  // room to receive, so that surplus ones can be closed

// --- inbox ---
inline constexpr std::size_t kPendingNamesMax = 65'536;      // noted names: 6 MiB; beyond it one scan costs less
inline constexpr std::size_t kLaneNamesMin = 16;             // of them each owner's, however many requesters are listed
inline constexpr std::size_t kScoutNamesPerTake = 8'192;     // looked at ahead of the scan, for other owners: 10 ms
inline constexpr std::size_t kKnownStraysMax = 4'096;        // immovable things in new/, remembered by device and inode
inline constexpr std::size_t kTakeExaminedPerFile = 8;       // names looked at for each file asked for: bounds one call
inline constexpr int kDeathsMax = 99;                        // in a lease name; two already set a file aside
inline constexpr int kNameCopiesMax = 1'000'000;             // .2 to .<this>; found by bisection, never one by one
inline constexpr int kTmpAttemptsMax = 16;                   // tmp/<name>.2 to .16: as many attempts of one job cut off
inline constexpr int kHandOverThreadsMax = 16;               // parallel fsync gains nothing measurable beyond
inline constexpr std::size_t kHandOverOpenFilesMax = 256;    // a quarter of the usual soft limit of descriptors
inline constexpr std::size_t kStaleTmpRemovedMax = 1'000;    // a call: mass unlinks slow down creates nearby
inline constexpr std::size_t kBacklogNamesPerStep = 16'384;  // of new/, counted between two looks at events: 5 ms
inline constexpr std::size_t kReceiptLineBytesMax = 16 * 1024;  // a receipt stays below 4 KiB
inline constexpr std::size_t kReceiptReadBytes = 64 * 1024;
inline constexpr int kReceiptDaysOpenMax = 3;  // days that a reader still looks for lines in: clocks differ by less
inline constexpr int kHandOverRenamesMax = 4;  // tries where the name is taken and free again each time

// --- config, cli ---
inline constexpr std::size_t kConfigFileBytesMax =
    1024 * 1024;  // the commented file that `intray init` writes has under 16 KiB
inline constexpr std::size_t kNearestWordBytesMax =
    256;  // an unknown word compared with the known ones; edit distance is quadratic
inline constexpr std::size_t kSecretPatternsMax = 256;  // each is searched in every line of every note
inline constexpr std::size_t kSecretPatternBytesMax = 1024;

// --- doctor ---
inline constexpr unsigned kProbeSecondsMax = 10;             // one child's tries; each is a few system calls
inline constexpr int kSelfTestSecondsMax = 60;               // an executor's self-test opens everything it works with
inline constexpr std::size_t kSelfTestBytesMax = 64 * 1024;  // its answer has a line of 100 bytes for each check
inline constexpr std::size_t kProbePathsMax = 64;            // tried of one target; a site has a dozen
inline constexpr std::size_t kProbePeopleMax = 8;            // tried of one role: admins, requesters
inline constexpr std::size_t kAccountsMax = 4'096;           // whose ssh keys are looked for
inline constexpr std::size_t kProgramBytesMax = 256 * 1024 * 1024;  // with debugging information
inline constexpr std::size_t kSearchedFileBytesMax =
    64 * 1024;  // a file searched for a private key; real ones have 4 KiB
inline constexpr std::size_t kSearchedFilesMax = 10'000;
inline constexpr std::size_t kProcessesMax = 256;  // of one user
inline constexpr int kRaceFiles = 64;              // renames that four processes race for
inline constexpr int kRaceProcesses = 4;

// --- receiver ---
inline constexpr std::size_t kCredentialBytesMax = 8192;  // a signed token with many claims; headers stay under 16 KiB
inline constexpr std::size_t kHostNameBytesMax = 253;     // DNS
inline constexpr std::size_t kAnswerHeadBytesMax = 16 * 1024;  // interim heads and trailers included
inline constexpr std::size_t kAnswerBodyBytesMax = 64 * 1024;  // of a mutation: the expected one has 4 bytes
inline constexpr std::int64_t kReadBodySlackBytes = 1024;      // around the content of a read: member name, braces
inline constexpr std::int64_t kEscapedBytesPerByteMax = 6;     // \u00XX for one byte of content
inline constexpr std::size_t kReadBytesHeldMax =
    128 * 1024 * 1024;                     // all reads at one time; four notes of the default limit, all escapes
inline constexpr int kInFlightMax = 1024;  // connections to one receiver; more only queue there
inline constexpr std::size_t kDescriptorsMax = 65'536;   // numbers that the connect shim remembers; one bit each
inline constexpr int kReadyDescriptorsMax = 1024;        // dialled and not used yet
inline constexpr std::int64_t kReadyAgeMin_us = 50'000;  // from the dial to its use, in the slowest case
inline constexpr std::int64_t kRetryAfterMax_us = 86'400'000'000;  // 24 h; the job's own deadline is tighter
inline constexpr std::int64_t kRedialWaitFirst_us = 20'000;        // after a refused dial that others wait for; doubles
inline constexpr std::int64_t kRedialWaitMax_us = 1'000'000;
inline constexpr int kStaleConnectionsMax = 8;  // tries of one request on connections found too old or dead

// --- lease ---
inline constexpr std::int64_t kGrantTimeToLiveMax_us = 30'000'000;  // settings only tighten it
inline constexpr std::int64_t kGrantTimeToLiveDefault_us = 10'000'000;

// --- source ---
inline constexpr std::size_t kGitCacheBytesMax =
    32 * 1024 * 1024;  // libgit2's own object cache; its default of 256 MiB is a server's
inline constexpr std::size_t kAncestryCommitsMax =
    1'000'000;  // remembered as reachable: 64 MiB; beyond it each question is a walk
inline constexpr std::size_t kAncestryAnswersMax = 4'096;        // remembered where the set above would not fit
inline constexpr std::size_t kCommitsKeptMax = 4'096;            // commits whose tree id is remembered: under 1 MiB
inline constexpr std::size_t kTreesKeptMax = 256;                // folders parsed and folded; a batch touches fewer
inline constexpr std::size_t kTreeEntriesKeptMax = 256 * 1024;   // names in those folders: some 32 MiB at worst
inline constexpr std::size_t kCommitBytesMax = 4 * 1024 * 1024;  // one commit object: message and signature
inline constexpr std::size_t kTreeBytesMax = 64 * 1024 * 1024;   // one tree object: a million names
inline constexpr std::size_t kTreeEntriesListedMax = 2'000'000;  // one listing of a whole commit (tools)
inline constexpr std::size_t kTreePathBytesMax = 4'096;          // PATH_MAX: a deeper tree can't be a vault
inline constexpr std::size_t kFrontMatterBytesMax = 64 * 1024;   // real ones stay under 4 KiB
inline constexpr std::size_t kFrontMatterDepthMax = 16;          // real ones nest three deep
inline constexpr std::size_t kFrontMatterNodesMax = 4'096;       // a long list of tags and aliases has hundreds
inline constexpr std::int64_t kPatternMemoryBytesMax = 8 * 1024 * 1024;  // of one compiled pattern and its automaton

// --- lease ---
inline constexpr std::chrono::microseconds kGrantMax{30'000'000};  // an execution grant; settings can only tighten it

// --- executor ---
inline constexpr std::int64_t kPreparedBytesMax =
    64 * 1024 * 1024;                                // note content held by prepared jobs: bounds memory
inline constexpr std::size_t kGatesPerTurn = 16;     // about a millisecond of git between two looks at the sockets
inline constexpr std::size_t kAdmitPerTurn = 256;    // files admitted in one commit while nothing can run
inline constexpr std::size_t kReissueMax = 100'000;  // receipts written again at start; more wait for the next
inline constexpr std::size_t kMissionsFileBytesMax = 16 * 1024 * 1024;  // 400,000 missions
inline constexpr std::size_t kCaFileBytesMax =
    4 * 1024 * 1024;  // a system's whole CA bundle is a quarter of a megabyte
inline constexpr std::chrono::microseconds kLeaseWaitMax{
    310'000'000};  // a lease is 5 minutes at most; then something is wrong
inline constexpr std::chrono::microseconds kLeaseRetry{250'000};  // between looks at a lease that runs out
inline constexpr std::chrono::microseconds kBlockedRetry{
    1'000'000};  // between tries while the ledger or disk has no room
inline constexpr std::chrono::microseconds kOncePatience{
    60'000'000};  // --once waits for retries as long after the last job that ended: five default waits, a settle time
inline constexpr std::chrono::microseconds kBacklogStep{2'000};  // between two helpings of that count
inline constexpr std::chrono::microseconds kPlainCreateWait{
    1'000'000};  // before a file made in new/ itself is looked at: its writer may be a shell that needs a moment
inline constexpr std::chrono::microseconds kReceiptSyncInterval{
    1'000'000};  // receipts are synced this long after a commit

// --- ledger ---
inline constexpr std::int64_t kLeaseMax_us = 300'000'000;  // identity leases: 5 minutes; settings only tighten it
inline constexpr int kLedgerCache_KiB = 16 * 1024;         // pages kept in memory; indexes on random ids want it
inline constexpr int kLedgerCheckpoint_pages = 4000;       // 16 MiB of log before its pages move to the database
inline constexpr std::int64_t kLedgerWalKept_bytes =
    64 * 1024 * 1024;                                      // what a long reader made the log grow to is given back
inline constexpr int kAuditRowsPerStep = 10'000;           // of one read transaction while a chain is walked
inline constexpr std::int64_t kReaderBusy_us = 2'000'000;  // readers wait for a checkpoint's lock, never for a worker
inline constexpr int kExpirePerCommitMax = 1000;           // jobs ended by time in one transaction

}  // namespace intray::limits

#endif
