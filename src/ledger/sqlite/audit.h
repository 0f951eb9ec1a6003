// Purpose:    the two chained, append-only audits: one mechanism, two tables.
// Trust:      a row's hash is SHA-256 over the 32 raw bytes of the row before it and the RFC 8785 (JCS) form of the row
//             without prev_hash and hash; the first row follows 32 zero bytes. Members without a value are left out;
//             times, epochs, fences and seq are integers, ids and hashes their lower-case text.
// Thread use: one thread.
// Durability: a row is durable with the transaction that appended it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "ledger/sqlite/db.h"
#include "ledger/types.h"

namespace intray::ledger::sqlite {

// Where a chain ends.
struct ChainHead {
  std::int64_t seq = 0;
  base::Sha256 hash;
};

// A row of lease_audit: fencing.md's closed set of members, and never a scope or a secret.
struct LeaseAuditRow {
  std::int64_t seq = 0;
  base::WallTime at;
  std::string event;    // LEASE_ACQUIRED, LEASE_TAKEOVER, LEASE_HEARTBEAT_REFUSED, LEASE_RELEASED, LEASE_REFUSED
  std::string outcome;  // GRANTED, REFUSED
  std::optional<model::Reason> reason;
  Identity identity;
  base::WorkerId connector_id;
  std::optional<base::Epoch> epoch;
  std::optional<base::LeaseId> correlation;
  base::Sha256 prev_hash;
  base::Sha256 hash;
};

// The canonical content that a row's hash covers.
std::string canonical(const AuditRow& row);
std::string canonical(const LeaseAuditRow& row);

// The hash of a row that follows `previous`.
template <class Row>
base::Sha256 chained_hash(const base::Sha256& previous, const Row& row) {
  return base::sha256(previous.view(), canonical(row));
}

// Fills seq, prev_hash and hash of a row that follows `head`, inserts it, and moves `head` on.
base::Result<void> append(Statement& insert_audit, ChainHead& head, AuditRow& row, std::optional<base::JobSeq> job);
base::Result<void> append(Statement& insert_lease_audit, ChainHead& head, LeaseAuditRow& row);

// The end of a chain: from a statement that yields seq and hash of the last row, or no row.
base::Result<ChainHead> read_head(Statement& statement);

// The row at which `use` stands: columns of audit in the order of sql/audit_after.sql.
AuditRow read_audit_row(Use& use);
LeaseAuditRow read_lease_audit_row(Use& use);

}  // namespace intray::ledger::sqlite
