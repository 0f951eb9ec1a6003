// Purpose:    the requester's library, in C: make and check a job, hand it over durably, wait for its receipt.
// Process:    a requester's. It needs no privilege but to write into tmp/ and new/ and to read receipts/ of an inbox.
// Trust:      what is checked here spares a refusal later; the executor checks all of it again and believes nothing.
// Thread use: functions may be called from any thread. One handle (inbox, waiter) belongs to one thread at a time.
//             Jobs, receipts and errors don't change once they are made: any number of threads may read them.
// Durability: INTRAY_OK and INTRAY_ALREADY of a hand-off mean that the job survives a power failure.
//
// C99 and C++. Nothing here throws, reads the environment, writes to a stream, changes a signal, or ends the process
// (but where the system has no random numbers). (Where the process has a file size limit, ignore SIGXFSZ: its default
// would end the process in the middle of a write.)
//
// Strings are UTF-8 and end in NUL. A string that a function returns belongs to the handle it was asked of, never to
// the caller, and lives as long as that; what returns no handle's string says whose it is. Handles are freed by their
// _free function, which takes NULL too. A function that gives a handle sets *out to NULL when it fails.
//
// `error`: where to put the reason of a failure, for the caller to free with intray_error_free, or NULL. *error is set
// to NULL where there is no failure.
//
// ABI: every symbol has the version INTRAY_0 of libintray.so.0. Within it functions and codes are only ever added, and
// structs grow at their end alone; struct_size tells the library which of them the caller knows. Handle unknown codes
// as failures.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(modernize-use-using,readability-identifier-naming): C

// ---- Results ----

// What every function that can fail returns. 0 to 15 are answers, the rest are failures: nothing was done.
enum {
  INTRAY_OK = 0,
  INTRAY_ALREADY = 1,          // of a hand-off: this very job lay in new/ before, durably
  INTRAY_OUTCOME_UNKNOWN = 2,  // of a hand-off: perhaps in new/, perhaps not durable. Hand the same job over again
  INTRAY_TIMEOUT = 3,          // of a wait: no receipt yet
  INTRAY_NONE_LEFT = 4,        // of a waiter: every job's receipt was given

  INTRAY_REFUSED = 16,           // the job breaks a rule of its contract: intray_error_reason says which
  INTRAY_INVALID_ARGUMENT = 17,  // the call is wrong: NULL, an unknown kind, a struct of the wrong size
  INTRAY_NOT_FOUND = 18,         // no such inbox or directory
  INTRAY_DENIED = 19,            // permissions, or a read-only filesystem: tell the admin
  INTRAY_NO_SPACE = 20,          // disk, quota or inodes: try again later
  INTRAY_IO = 21,                // a read, write or sync failed
  INTRAY_BUSY = 22,              // another file has this job's name, or too many attempts at once: try again soon
  INTRAY_UNSUPPORTED = 23,       // this system can't do it
  INTRAY_NO_MEMORY = 24,
  INTRAY_INTERNAL = 25  // a mistake of the library
};

typedef struct intray_error intray_error;

int intray_error_code(const intray_error* error);
// The reason code, as receipts and `intray explain` have it ("UNSAFE_PATH"); NULL unless the code is INTRAY_REFUSED,
// and where not even the error found memory (its message says so).
const char* intray_error_reason(const intray_error* error);
// One line for a person: what, which rule, what was found. What it quotes is escaped.
const char* intray_error_message(const intray_error* error);
// The errno behind it, 0 if there was none.
int intray_error_errno(const intray_error* error);
void intray_error_free(intray_error* error);

// "0.1.0": of the library that is loaded. The string is static.
const char* intray_version(void);

// ---- Jobs ----

enum { INTRAY_SAVE = 1, INTRAY_DELETE = 2 };  // kind of a job, and of the inbox that takes it
enum { INTRAY_SHA1 = 0, INTRAY_SHA256 = 1 };  // object format of the site's git repository

// What a site's settings (save.toml(5)) add to the contract. Set all of it to 0 and struct_size to sizeof: then these
// are the defaults. Where a function takes rules, NULL means the same.
typedef struct intray_rules {
  size_t struct_size;
  const char* vault_root;         // NULL: "/app/vault". Absolute, without a slash at its end
  const char* const* extensions;  // a path must end in one of them. NULL: {".md"}
  size_t extension_count;
  int64_t object_format;  // INTRAY_SHA1 or INTRAY_SHA256: the length of commit ids
  int64_t max_age_us;     // job.max_age, microseconds; 0: 7 days
  int64_t now_us;         // microseconds since 1970, UTC; 0: the system's clock
} intray_rules;

// Members of a SAVE job. Set all of it to 0 and struct_size to sizeof, then the members. Those marked may stay NULL:
// ids and keys are drawn, the time is now.
typedef struct intray_save_fields {
  size_t struct_size;
  const char* job_id;           // may be NULL; a UUID of version 4, lower case
  const char* mission_id;       // may be NULL
  const char* object_id;        // 1 to 128 of A-Z a-z 0-9 . _ : -; else intray_object_id_of_path
  const char* vault_path;       // absolute, with the vault root
  const char* source_commit;    // full lower-case hex
  const char* provenance_hash;  // intray_provenance_hash
  const char* expected_state;   // "UNSET" where the note's front matter names none
  const char* created_at;       // may be NULL; RFC 3339, UTC: "2026-11-30T12:00:00Z"
  const char* idempotency_key;  // may be NULL; the same key with the same content has one effect
} intray_save_fields;

// The same of a DELETE job. All but those marked must be what the signed approval says.
typedef struct intray_delete_fields {
  size_t struct_size;
  const char* job_id;  // may be NULL
  const char* mission_id;
  const char* delete_request_id;
  const char* object_id;
  const char* vault_path;
  const char* expected_commit;
  const char* expected_provenance_hash;
  const char* approval_id;
  const char* created_at;       // may be NULL
  const char* idempotency_key;  // may be NULL
} intray_delete_fields;

// A job that passed every check which needs neither git nor the ledger. Doesn't change.
typedef struct intray_job intray_job;

// Makes a job. INTRAY_REFUSED: a field breaks a rule; the error has the executor's reason.
int intray_job_make_save(const intray_save_fields* fields, const intray_rules* rules, intray_job** job,
                         intray_error** error);
int intray_job_make_delete(const intray_delete_fields* fields, const intray_rules* rules, intray_job** job,
                           intray_error** error);
// Checks finished bytes, in the executor's order and with its reasons. `kind` is the inbox they are meant for. With
// `job` NULL it only checks. `bytes` may be NULL where size is 0.
int intray_job_parse(int kind, const char* bytes, size_t size, const intray_rules* rules, intray_job** job,
                     intray_error** error);
// The same for a job's text in any strict JSON form, which is made canonical first; the kind is what its job_type says.
int intray_job_canonicalize(const char* text, size_t size, const intray_rules* rules, intray_job** job,
                            intray_error** error);

int intray_job_kind(const intray_job* job);
// The canonical bytes, *size of them (size may be NULL), and a NUL behind them.
const char* intray_job_bytes(const intray_job* job, size_t* size);
const char* intray_job_id(const intray_job* job);
const char* intray_job_sha256(const intray_job* job);     // of the bytes, lower-case hex
const char* intray_job_file_name(const intray_job* job);  // in tmp/ and new/
// A member of the job by its name; NULL where there is none, and for job_version, which is no string.
const char* intray_job_member(const intray_job* job, const char* name);
void intray_job_free(intray_job* job);

// provenance_hash of a note: `content` as git has it, `repository_path` in the repository (not below the vault root).
// Writes 64 digits and NUL. INTRAY_REFUSED: an argument that is no UTF-8.
int intray_provenance_hash(const char* commit, const void* content, size_t content_size, const char* object_id,
                           const char* repository_path, const char* state, char out[65], intray_error** error);
// object_id of a note that names none itself: "p-" and 32 digits of the SHA-256 of its path in the repository, and NUL.
int intray_object_id_of_path(const char* repository_path, char out[35], intray_error** error);

// ---- Hand-off ----

typedef struct intray_inbox intray_inbox;

// The inbox of one kind below a site's data directory ("/var/lib/intray"). INTRAY_NOT_FOUND, INTRAY_DENIED: the caller
// has no place there.
int intray_inbox_open(const char* root, int kind, intray_inbox** inbox, intray_error** error);
void intray_inbox_free(intray_inbox* inbox);

// Hands a job over: writes it into tmp/, syncs it, renames it into new/, syncs that.
//   INTRAY_OK               it will end, and its outcome will be in a receipt
//   INTRAY_ALREADY          as before; nothing changed. No error is given
//   INTRAY_OUTCOME_UNKNOWN  it may or may not be there, or not survive a power failure. Handing the same job over
//                           again is safe: under one job_id and idempotency_key there is one effect at most
//   anything else           it is not accepted, and nothing of it is in new/ (in tmp/ neither, unless the disk fails
//                           for good; the executor removes such files). INTRAY_INVALID_ARGUMENT: another kind's job
// INTRAY_OK for a job that the executor took before: it answers with the receipt it has, and acts only once.
int intray_submit(intray_inbox* inbox, const intray_job* job, intray_error** error);

// The same for `count` jobs, files synced in parallel and new/ once. results[i], and errors[i] unless errors is NULL,
// are as intray_submit's for jobs[i]. Returns INTRAY_OK where every result is INTRAY_OK or INTRAY_ALREADY, else the
// first other one. INTRAY_INVALID_ARGUMENT with every result the same: one of the jobs is NULL or another kind's, and
// none was touched.
int intray_submit_batch(intray_inbox* inbox, const intray_job* const* jobs, size_t count, int* results,
                        intray_error** errors);

// ---- Receipts ----

typedef struct intray_receipt intray_receipt;

enum {
  INTRAY_STATE_SUCCEEDED = 1,
  INTRAY_STATE_FAILED = 2,    // nothing has changed at the receiver
  INTRAY_STATE_REJECTED = 3,  // by a rule or a gate; nothing was sent
  INTRAY_STATE_UNKNOWN = 4    // nobody can say; a person resolves it, which brings a further receipt
};

int intray_receipt_state(const intray_receipt* receipt);
const char* intray_receipt_result(const intray_receipt* receipt);  // "APPLIED", "REFUSED", …
const char* intray_receipt_reason(const intray_receipt* receipt);  // a reason code, NULL where there is none
const char* intray_receipt_detail(const intray_receipt* receipt);  // for people, escaped; NULL where there is none
const char* intray_receipt_job_id(const intray_receipt* receipt);
const char* intray_receipt_job_sha256(const intray_receipt* receipt);
int64_t intray_receipt_audit_seq(const intray_receipt* receipt);  // of one job's receipts, the highest counts
int64_t intray_receipt_attempts(const intray_receipt* receipt);   // requests that were sent
int64_t intray_receipt_admitted_at_us(const intray_receipt* receipt);
int64_t intray_receipt_finished_at_us(const intray_receipt* receipt);
const char* intray_receipt_json(const intray_receipt* receipt);  // the whole line, without its newline
void intray_receipt_free(intray_receipt* receipt);

// Waits until a receipt answers for this job, by its job_id and its bytes' SHA-256, or timeout_us passed: 0 looks once,
// less than 0 waits as long as it takes. INTRAY_TIMEOUT, without an error: none yet.
int intray_wait(intray_inbox* inbox, const intray_job* job, int64_t timeout_us, intray_receipt** receipt,
                intray_error** error);

// Waits for many at once.
typedef struct intray_waiter intray_waiter;

int intray_waiter_new(intray_inbox* inbox, intray_waiter** waiter, intray_error** error);
// The waiter keeps what it needs of the job. At any time, also between two waits.
int intray_waiter_add(intray_waiter* waiter, const intray_job* job, intray_error** error);
// For a job known by its ids alone, after a restart say. created_us: its created_at or any time before; 0 reads all.
int intray_waiter_add_id(intray_waiter* waiter, const char* job_id, const char* job_sha256, int64_t created_us,
                         intray_error** error);
// The next job that ended: its receipt with the highest audit_seq so far. INTRAY_NONE_LEFT: each was given. A later
// receipt of a job that was given already (a resolution) is given too, while others are waited for.
int intray_waiter_next(intray_waiter* waiter, int64_t timeout_us, intray_receipt** receipt, intray_error** error);
// Jobs that have no receipt yet, by what was read so far.
size_t intray_waiter_pending(const intray_waiter* waiter);
void intray_waiter_free(intray_waiter* waiter);

// NOLINTEND(modernize-use-using,readability-identifier-naming)

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
