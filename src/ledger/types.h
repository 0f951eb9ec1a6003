// Purpose:    the records that cross the ledger's interface: leases, jobs, attempts, ends, audit rows.
// Trust:      text fields that came from a job passed the contract's rules; `detail` and file names are escaped.
// Thread use: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/ids.h"
#include "model/reason.h"
#include "model/receipt.h"
#include "model/state.h"

namespace intray::ledger {

// Who may act: a logical identity, not a process. For intray: the site's tenant, the executor kind, one slot of it.
struct Identity {
  std::string tenant;   // site configuration
  std::string agent;    // "save", "delete"
  std::string binding;  // "save/0"
  auto operator<=>(const Identity&) const = default;
};

struct LeaseRow {
  Identity identity;
  base::LeaseId lease_id;
  base::WorkerId connector_id;
  std::string scopes;  // normalized: sorted, comma separated
  base::Epoch epoch;
  base::WallTime acquired_at;
  base::WallTime heartbeat_at;
  base::WallTime expires_at;
  std::optional<base::WallTime> released_at;
  std::string boot_id;          // of the host's boot under which the next one counts
  base::BootTime expires_boot;  // judged instead of expires_at by a reader with the same boot id
};

// A lease in this process's hands. Every write of a worker names it.
struct HeldLease {
  Identity identity;
  base::LeaseId lease_id;
  base::WorkerId connector_id;
  base::Epoch epoch;
  base::BootTime expires_boot;
};

// Members of a job that the ledger keeps as columns. Both kinds; what a kind does not have stays empty.
struct JobFacts {
  base::JobId job_id;
  base::MissionId mission_id;
  model::JobKind kind = model::JobKind::kSave;
  std::string object_id;
  std::string vault_path;
  std::string commit;  // source_commit or expected_commit
  base::Sha256 provenance_hash;
  std::string expected_state;
  base::WallTime created_at;
  base::IdempotencyKey idempotency_key;
  std::optional<base::DeleteRequestId> delete_request_id;
  std::optional<base::ApprovalId> approval_id;
};

// A job as its holder works on it.
struct JobRecord {
  base::JobSeq seq;
  JobFacts facts;
  base::Sha256 job_sha256;           // of the canonical bytes
  std::int64_t name_created_us = 0;  // <created> of the file's name
  std::uint32_t owner_uid = 0;       // of the file: who asked
  std::int64_t job_bytes = 0;        // of the file; known of a job that a worker has in hand
  model::State state = model::State::kCreated;
  std::optional<base::ClaimId> claim_id;
  base::Fence fence;
  int attempt_count = 0;
  int claim_deaths = 0;  // processes that died on it while it ran alone
  bool suspect = false;  // a process died while holding it: it runs alone until it is out of a worker's hands
  bool may_have_effect = false;
  std::optional<base::Sha256> content_sha256;  // of the last attempt: what a read-back compares with
  std::optional<base::Sha256> effect_key;      // of the last attempt
  std::optional<base::AttemptId> attempt_id;   // of the last attempt
  base::WallTime admitted_at;
  base::WallTime deadline_at;
  std::optional<base::WallTime> not_before;
  std::optional<base::JobSeq> follows;  // an idempotent replay's first job
};

// A job (or file) that reached an end in this commit, or whose receipt is to be issued again: what the receipt says and
// where the file lies until it is moved.
struct Ended {
  model::Receipt receipt;
  base::JobSeq seq;  // 0 for a file without a job row
  std::int64_t name_created_us = 0;
  std::uint32_t owner_uid = 0;
  std::int64_t job_bytes = 0;                                      // of its file; 0 for a file without a job row
  enum class From { kLease, kCur, kNowhere } from = From::kLease;  // kNowhere: a receipt issued again
};

// How many jobs of one owner wait or run, and the bytes of their files.
struct OwnerCount {
  std::uint32_t owner_uid = 0;
  std::int64_t jobs = 0;
  std::int64_t bytes = 0;
};

struct AuditRow {
  base::AuditSeq seq;
  base::WallTime at;
  std::string event;  // REQUESTED, AUTHORIZED, EXECUTED, REJECTED, ATTEMPT, OBSERVED, OUTCOME, RETRY, DUPLICATE,
                      // RECOVERED, CLAIMED, …
  std::optional<base::JobId> job_id;
  std::optional<base::MissionId> mission_id;
  std::string job_type;
  std::string object_id;
  std::optional<model::State> from_state;
  std::optional<model::State> to_state;
  std::string row;  // of the transition table, "J05"; empty where no transition
  std::optional<base::WorkerId> worker_id;
  std::optional<base::ClaimId> claim_id;
  std::optional<base::AttemptId> attempt;
  std::optional<base::Epoch> epoch;
  std::optional<base::Fence> fence;
  std::optional<model::Reason> reason;
  std::optional<model::ResultWord> result;
  std::optional<base::ApprovalId> approval_id;
  std::optional<base::Sha256> provenance_hash;
  std::string actor;   // an admin's act; empty for a worker's
  std::string detail;  // escaped
  base::Sha256 prev_hash;
  base::Sha256 hash;
};

}  // namespace intray::ledger
