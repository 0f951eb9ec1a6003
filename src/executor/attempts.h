// Purpose:    the jobs in this worker's hands, each driven from its claim to the change that ends it, one step at a
// time. Process:    executors. Trust:      nothing is sent without a Started that said ok and a grant minted for it;
// every end is what the classification
//             table (model/outcome.h) and a read-back say, never a guess.
// Thread use: one thread; callbacks of the client run inside the event loop and only change this object.
// Durability: none of its own: each step that must be durable is a change handed to the ledger through collect().
//
//   claimed ─► reading first ─► gates ─► reading first ─► ready to start ─► [commit] ─► sending ─► verifying ─►
//   finished
//      │   (may have effect)      │    (applied before)                                    └── settling ──┘        │
//      └──────────────────────────┴── refused, at target, source away: finished without a request ────────► [commit]
//
// Invariants, asserted: I1 a job is in exactly one phase. I2 only "sending" and what follows has an attempt id that
// went out. I3 a job leaves the map only when the ledger has taken its finish, or has said that the claim is gone.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "executor/operation.h"
#include "executor/receiver_health.h"
#include "lease/coordinator.h"
#include "ledger/ledger.h"
#include "model/outcome.h"
#include "receiver/client.h"
#include "sys/event_loop.h"

namespace intray::executor {

struct AttemptSettings {
  base::Micros settle{10'000'000};
  base::Micros verify_deadline{30'000'000};
  base::Micros first_wait{1'000'000};
  base::Micros unavailable_wait{5'000'000};  // before a job whose source or receiver was away is looked at again
};

class Attempts {
 public:
  // `wake`: something changed, the worker should take a turn.
  Attempts(const AttemptSettings& settings, Operation& operation, receiver::Client& client,
           lease::Coordinator& coordinator, ledger::Ledger& ledger, ReceiverHealth& health, sys::EventLoop& loop,
           const base::Clock& clock, std::function<void()> wake);
  ~Attempts();
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  // A job just claimed, its file at lease/<slot>/<lease_name>.
  void add(ledger::JobRecord job, std::string lease_name);
  // A job taken over while EXECUTING: read back, never sent (J14).
  void add_for_read_back(ledger::JobRecord job, std::string lease_name);

  // Runs the gates of claimed jobs, at most `max` of them and within the memory bound. An error is the ledger's.
  base::Result<void> prepare_some(std::size_t max);

  // Moves what is ready into the batch: every finish, and starts while `slots` allows requests under way.
  // Rechecks the last gates first, which may turn a start into a finish. With `may_start` false only finishes are
  // moved.
  void collect(ledger::Batch& batch, std::size_t slots, bool may_start);
  // What the ledger said to the changes that collect() moved, in the same order.
  void committed(const ledger::Batch& batch, const ledger::BatchResult& result);
  // The commit failed and nothing was changed: the changes are ready again.
  void not_committed(const ledger::Batch& batch);

  // Gives back what was claimed and not started (a stop): J05 and J13, no attempt counted.
  void give_back();

  // The file of a job that ended in this commit; removes the job. Empty where the job is not in hand.
  std::string release(base::JobSeq seq);

  std::size_t in_hand() const { return jobs_.size(); }
  std::size_t finished() const { return finished_.size(); }
  std::size_t startable() const { return startable_.size(); }
  std::size_t unprepared() const { return claimed_.size(); }
  // Whether prepare_some() would do anything: jobs wait for their gates and the memory bound has room.
  bool can_prepare() const;
  // Requests at the receiver: sends and reads.
  std::size_t outstanding() const { return outstanding_; }
  // Started and not yet finished: what limits.in_flight bounds.
  std::size_t under_way() const { return under_way_; }
  const std::string& probe_path() const { return probe_path_; }
  std::string describe() const;  // one line for SIGUSR1

 private:
  struct Job;
  using Seq = std::int64_t;

  Job* find(Seq seq);
  void read_target(Job& job, std::function<void(Job&, const receiver::ReadResult&)> then);
  void after_first_read(Job& job, const receiver::ReadResult& read);
  void after_effect_read(Job& job, const receiver::ReadResult& read);
  void send(Job& job, int repetition);
  void after_send(Job& job, const receiver::MutationResult& result);
  void verify(Job& job);
  void after_verify(Job& job, const receiver::ReadResult& read);
  void verify_again_after(Job& job, base::Micros wait);
  void settle_job(Job& job, model::ReadBack read_back, const receiver::ReadResult& read);
  void finish(Job& job, ledger::Finish change);
  void finish_refused(Job& job, const source::Refusal& refusal);
  void note_transport(const model::Answer& answer);
  ledger::Finish change_for(const Job& job) const;
  base::WallTime retry_at(const Job& job, std::optional<base::Micros> retry_after);

  AttemptSettings settings_;
  Operation& operation_;
  receiver::Client& client_;
  lease::Coordinator& coordinator_;
  ledger::Ledger& ledger_;
  ReceiverHealth& health_;
  sys::EventLoop& loop_;
  const base::Clock& clock_;
  std::function<void()> wake_;

  std::unordered_map<Seq, std::unique_ptr<Job>> jobs_;
  std::deque<Seq> claimed_;    // wait for their gates
  std::deque<Seq> startable_;  // gates held
  std::deque<Seq> finished_;   // have a finish to commit
  std::size_t outstanding_ = 0;
  std::size_t under_way_ = 0;
  std::int64_t held_bytes_ = 0;
  std::string probe_path_;
};

}  // namespace intray::executor
