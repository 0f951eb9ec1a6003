// Purpose:    keeps the directories and the receipts as the ledger says they are.
// Process:    executors.
// Trust:      the ledger is the truth; a file here is a label for people. A file that can't be moved is logged and left
// for the
//             next start; it never changes what the ledger says.
// Thread use: one thread.
// Durability: files: none. Receipts: append() after the outcome is durable; sync() before the ledger's mark moves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "inbox/layout.h"
#include "inbox/names.h"
#include "inbox/receipt_log.h"
#include "ledger/types.h"

namespace intray::executor {

class Projection {
 public:
  Projection(const inbox::Inbox& inbox, base::Slot slot, const base::Clock& clock);

  // lease/<slot>/<name> to cur/: the job waits.
  void to_cur(const std::string& lease_name, const ledger::JobRecord& job);
  void to_cur(const std::string& lease_name);
  // cur/ to lease/<slot>/ under a new take number: the job was claimed. Returns its name there.
  std::string claim_from_cur(const ledger::JobRecord& job, base::TakeNumber take);
  // Wherever it lies, to its final directory. `lease_name` where From::kLease.
  void to_final(const ledger::Ended& ended, const std::string& lease_name);
  // A bad file's or a conflict's own place: rejected/ under its reason.
  void to_rejected(const inbox::LeaseName& name, base::WallTime taken, model::Reason reason);
  // A duplicate whose audit row is durable.
  void drop(const std::string& lease_name);

  // Receipts of one commit, in one write. Failures are kept and tried again with the next.
  void issue(std::span<const model::Receipt> receipts);
  // Whether receipts wait for a sync, or for another try at writing.
  bool receipts_pending() const { return writer_.dirty() || !unwritten_.empty(); }
  // Everything issued so far is durable: the highest audit_seq to mark, if it moved.
  base::Result<std::optional<base::AuditSeq>> sync_receipts();

 private:
  const inbox::Inbox& inbox_;
  const sys::Dir& lease_;
  const base::Clock& clock_;
  inbox::ReceiptWriter writer_;
  std::vector<std::string> unwritten_;
  base::AuditSeq issued_through_;
  base::AuditSeq marked_through_;
};

// The word a final file name ends in: the reason, or the result where there is no reason.
std::string final_word(const model::Receipt& receipt);

}  // namespace intray::executor
