// Purpose:    what differs between executors: one job contract, one set of gates, one mutation shape. An executor
// binary
//             links exactly one implementation (save/, delete/): there is no dispatch on anything that a job says.
// Process:    executors.
// Trust:      jobs are hostile bytes until parse() accepted them, and claims of a requester until prepare() confirmed
// them. Thread use: one thread.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "ledger/types.h"
#include "model/grant.h"
#include "model/job.h"
#include "receiver/client.h"
#include "source/source.h"

namespace intray::executor {

// A job whose gates all held: what its request will carry. `content_sha256` is what a read-back compares with.
class Prepared {
 public:
  virtual ~Prepared() = default;
  base::Sha256 effect_key;
  base::Sha256 content_sha256;
  std::int64_t held_bytes = 0;  // memory until the job ends
  bool read_first = false;      // the effect was applied before: a read decides whether anything is sent
};

class Operation {
 public:
  virtual ~Operation() = default;

  // The contract: bytes of a file to a job, or why not.
  virtual std::expected<ledger::JobFacts, model::Rejection> parse(std::string_view bytes) const = 0;
  // Admission rules that need a clock or a site's list: age, mission. nullopt: admitted.
  virtual std::optional<model::Rejection> refuse_admission(const ledger::JobFacts& job, base::WallTime now) const = 0;

  // Rereads what the authorities say now; once per batch. SOURCE_UNAVAILABLE: jobs wait.
  virtual source::Answer<void> refresh() = 0;
  // Every gate, in order. SOURCE_UNAVAILABLE: wait; any other refusal ends the job. kIo of the outer Result: the ledger
  // failed.
  virtual base::Result<source::Answer<std::unique_ptr<Prepared>>> prepare(const ledger::JobRecord& job) = 0;
  // The gates that are judged once more right before the attempt is recorded.
  virtual std::optional<source::Refusal> recheck(const ledger::JobRecord& job, const Prepared& prepared) = 0;
  // The one mutation. done is called exactly once, never from inside send().
  virtual void send(model::Grant grant, const ledger::JobRecord& job, Prepared& prepared, int repetition,
                    std::function<void(receiver::MutationResult)> done) = 0;
};

}  // namespace intray::executor
