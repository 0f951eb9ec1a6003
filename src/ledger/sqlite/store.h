// Purpose:    the SQLite ledger behind ledger.h: opens the database and puts each call into one transaction.
// Process:    the executor, one object per process.
// Thread use: one thread.
// Durability: a call that returned is durable (synchronous=FULL). After kIo the object refuses everything: what is on
// disk
//             is not known until the database is opened anew.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ledger/ledger.h"
#include "ledger/sqlite/leases.h"
#include "ledger/sqlite/work.h"
#include "sys/fd.h"

namespace intray::ledger::sqlite {

class Store final : public Ledger {
 public:
  static base::Result<std::unique_ptr<Ledger>> open(const OpenOptions& options, const base::Clock& clock);
  ~Store() override;

  Decision<HeldLease> acquire(const Identity& identity, const base::WorkerId& connector, const std::string& scopes,
                              base::Micros ttl) override;
  Decision<HeldLease> takeover(const Identity& identity, base::Epoch current, const base::WorkerId& connector,
                               const std::string& scopes, base::Micros ttl) override;
  base::Result<std::optional<LeaseRow>> lease(const Identity& identity) override;
  Decision<HeldLease> heartbeat(const HeldLease& held, base::Micros ttl) override;
  Decision<std::monostate> release(const HeldLease& held) override;
  bool still_holds(const HeldLease& held) override;
  base::Result<Recovered> recover(const HeldLease& held) override;
  base::Result<BatchResult> commit(const HeldLease& held, const Batch& batch) override;
  base::Result<Waiting> waiting() override;
  base::Result<std::vector<OwnerCount>> live_by_owner() override;
  base::Result<std::optional<AppliedSave>> last_applied(const std::string& object_id,
                                                        const std::string& vault_path) override;
  base::Result<std::optional<base::Sha256>> effect_applied(const base::Sha256& effect_key) override;
  base::Result<std::optional<JobRecord>> find_job(const base::JobId& job_id) override;
  base::Result<std::vector<Ended>> unreceipted(std::size_t max) override;
  base::Result<void> note(const HeldLease& held, const std::string& event, const std::string& detail) override;
  base::LedgerId id() const override { return id_; }
  std::int64_t ledger_epoch() const override { return ledger_epoch_; }
  base::Result<std::optional<Ended>> find_end(const base::JobId& job_id) override;
  bool give_up_reserve() override;
  bool sign_out() override;
  Counters counters() const override;

  // For tests: room as a full disk would leave it, and what the connection runs with.
  base::Result<std::int64_t> limit_pages_for_test(std::int64_t pages) {
    return db_.read_integer("PRAGMA max_page_count = " + std::to_string(pages));
  }
  base::Result<std::string> pragma_for_test(const std::string& name) { return db_.read_text("PRAGMA " + name); }

 private:
  Store(const OpenOptions& options, const base::Clock& clock, Database db)
      : options_(options), clock_(clock), db_(std::move(db)) {}
  base::Result<void> begin_use();
  base::Result<void> commit_counted(Transaction& transaction);
  // Remembers a failure after which nothing may be believed.
  base::Error seen(base::Error error);

  // Runs `body` on a Work inside one transaction and commits. kStale where `held` is no longer the lease.
  template <class T>
  base::Result<T> in_transaction(const HeldLease& held, const std::function<base::Result<T>(Work&)>& body,
                                 const Batch* evidence_of = nullptr);
  template <class D>
  base::Result<D> lease_transaction(const Identity& identity, base::Micros ttl,
                                    const std::function<base::Result<D>(LeaseWork&)>& body);

  OpenOptions options_;
  const base::Clock& clock_;
  Database db_;
  std::unique_ptr<Statements> sql_;
  base::LedgerId id_;
  std::int64_t ledger_epoch_ = 1;
  std::string binding_;                 // of the lease last granted to this process
  std::optional<std::int64_t> writer_;  // this process's row in writers, while it is signed in
  sys::Fd reserve_;                     // open, because a confined process can't open it
  bool broken_ = false;
  std::int64_t commits_ = 0;
};

}  // namespace intray::ledger::sqlite
