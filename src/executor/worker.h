// Purpose:    the executor's loop: new/ to the ledger to the receiver and back, one thread, many jobs, shared commits.
// Process:    executors, after everything is open (startup.h).
// Trust:      files in new/ are hostile; the ledger decides; see operation.h for what is believed of a job.
// Thread use: one thread; everything happens inside run().
// Durability: one commit per turn holds the ends of some jobs, the starts of others and the claims of the next
//             (commit_policy.h). Only after it, requests are sent, files moved and receipts written.
//
// Idle, nothing wakes it but inotify, signals and the slow timers (heartbeat, scan).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "executor/attempts.h"
#include "executor/commit_policy.h"
#include "executor/operation.h"
#include "executor/pressure.h"
#include "executor/projection.h"
#include "executor/receiver_health.h"
#include "inbox/backlog.h"
#include "inbox/intake.h"
#include "inbox/layout.h"
#include "lease/coordinator.h"
#include "ledger/ledger.h"
#include "receiver/client.h"
#include "receiver/descriptor_pool.h"
#include "sys/event_loop.h"
#include "sys/inotify.h"
#include "sys/notify.h"

namespace intray::executor {

// Exit codes of an executor (its man page lists them all).
enum class Exit : int {
  kClean = 0,
  kUnfinished = 1,  // --once: some job is neither SUCCEEDED, FAILED nor REJECTED
  kUsage = 2,
  kUnusable = 69,  // ledger or inbox
  kSelfTest = 70,
  kLeaseHeld = 75,
  kEpochLost = 76,
  kCredential = 77,
  kConfiguration = 78,
};

// Everything that was opened before the work starts. All of it outlives the worker.
struct WorkerParts {
  const config::Settings& settings;
  const inbox::Inbox& inbox;
  base::Slot slot;
  ledger::Ledger& ledger;
  ledger::HeldLease lease;
  Operation& operation;
  receiver::Client& client;
  receiver::DescriptorPool& pool;
  lease::Coordinator& coordinator;
  sys::EventLoop& loop;
  sys::Inotify* events;  // nullptr: no inotify here, the timer scans
  const sys::Notifier& notifier;
  const base::Clock& clock;
};

class Worker {
 public:
  explicit Worker(WorkerParts parts);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Registers for events, signals and timers. Before lock-down, once.
  base::Result<void> arm();
  // The heartbeat's write. False: the lease is lost or the ledger failed (logged, and run() will end at once).
  bool renew_lease();
  // After arm(). Recovers what an earlier process left, then works until SIGTERM or SIGINT, or, with `once`, until new/
  // is empty and no job can run within limits::kOncePatience. Releases the identity lease where it still holds it.
  Exit run(bool once);

 private:
  enum class Link { kIdle, kDialling, kUp };  // whether a connection can be had, as far as was tried lately

  // start
  base::Result<void> recover();
  base::Result<void> readmit(std::vector<inbox::TakenFile> files);
  base::Result<void> count_waiting();
  base::Result<void> reissue_receipts();
  void tidy_cur();

  // one turn
  void turn();
  void gather();
  bool may_claim();
  std::size_t room() const;
  std::size_t free_slots() const;
  CommitQuestion commit_question(base::BootTime now) const;
  ledger::Admit to_admit(const inbox::TakenFile& file) const;
  void refresh_source();
  void commit_batch();
  bool handle_failure(const base::Error& error);
  struct Committed {
    ledger::Batch batch;
    std::vector<inbox::TakenFile> files;
    ledger::BatchResult result;
    std::vector<model::Receipt> receipts;
  };
  void apply(Committed& done);
  void apply_admitted(Committed& done);
  void apply_ended(Committed& done, const ledger::Ended& ended, const std::string& lease_name);
  void settle_receipts();
  bool idle_now() const;
  bool due_soon() const;
  bool suspects_to_try() const { return suspects_ > 0 && look_suspects_; }
  void look_again() { look_ = look_suspects_ = true; }
  bool more_to_do() const;
  std::int64_t space_in_cur() const;
  void count_backlog();
  void look_later(std::string name);
  void look_at_created();

  // timers and events
  void on_events();
  void on_signal(int signo);
  void heartbeat();
  void slow_scan();
  void probe();
  void schedule_turn(base::Micros delay);
  void schedule_due(std::optional<base::WallTime> due);
  void leave(Exit exit_code) { exit_ = exit_.value_or(exit_code); }
  void shut_down();

  WorkerParts p_;
  ReceiverHealth health_;
  Attempts attempts_;
  Projection projection_;
  inbox::Intake intake_;
  inbox::BacklogCount backlog_count_;
  Pressure pressure_;

  ledger::Batch batch_;                        // gathered, not committed yet
  std::vector<inbox::TakenFile> batch_files_;  // parallel to batch_.admits
  std::int64_t waiting_ = 0;                   // READY and RETRYABLE in the ledger, kept up to date by what commits say
  std::int64_t suspects_ = 0;                  // of them: run alone
  bool look_ = true;                           // waiting jobs may be claimable: ask the next commit
  bool look_suspects_ = true;                  // so may suspects
  std::int64_t next_take_ = 0;                 // for claims out of cur/

  Link link_ = Link::kIdle;
  base::BootTime last_commit_{};
  std::optional<base::BootTime> blocked_until_;  // the ledger or the disk has no room
  std::optional<base::BootTime> stop_by_;
  bool source_away_ = false;
  bool probing_ = false;  // a probe is due or out
  bool stopping_ = false;
  bool once_ = false;
  std::optional<Exit> exit_;
  sys::EventLoop::TimerId wake_timer_ = 0;
  sys::EventLoop::TimerId receipt_timer_ = 0;
  sys::EventLoop::TimerId due_timer_ = 0;
  sys::EventLoop::TimerId source_timer_ = 0;
  std::optional<base::WallTime> due_at_;
  sys::EventLoop::TimerId backlog_timer_ = 0;
  sys::EventLoop::TimerId created_timer_ = 0;
  struct Created {
    std::string name;
    base::BootTime look_at;
  };
  std::deque<Created> created_;  // made in new/ itself, oldest first
  int new_watch_ = -1;
  int cur_watch_ = -1;
  base::BootTime last_ended_{};  // or the start
  std::int64_t ended_ = 0;       // since the start, for the log and SIGUSR1
  std::int64_t unknown_ = 0;     // unresolved in the ledger, of earlier processes too
};

}  // namespace intray::executor
