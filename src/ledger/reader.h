// Purpose:    the ledger as tools see it: read only, running executor or not, without locks that hold up the worker.
// Process:    intray ls, show, log; needs only the admin group's read rights.
// Thread use: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ledger/types.h"

namespace intray::ledger {

struct JobSummary {
  JobRecord job;
  std::optional<model::Reason> reason;
  std::optional<model::ResultWord> result;
  std::optional<base::WallTime> finished_at;
  base::WallTime state_since;
  std::optional<base::WorkerId> worker_id;  // of a claimed or executing job
  bool lease_over = false;                  // its worker died, or lives and could not renew its lease
  base::AuditSeq last_audit;
};

// A file that never became a job.
struct FileSummary {
  std::string dropped_name;  // escaped
  base::TakeNumber take;
  std::uint32_t owner_uid = 0;
  base::WallTime taken_at;
  model::Reason reason = model::Reason::kMalformedJson;
  std::string detail;
  std::optional<base::JobId> job_id;
};

struct AttemptRow {
  base::AttemptId attempt_id;
  int number = 0;  // from 1
  int repetition = 0;
  base::Sha256 effect_key;
  base::Sha256 content_sha256;
  base::WallTime started_at;
  std::optional<base::WallTime> ended_at;
  std::string outcome;  // "", APPLIED, NONE, POSSIBLE, VOID, …
  std::optional<int> http_status;
  std::optional<base::Sha256> observed_sha256;
  base::Epoch epoch;
  base::Fence fence;
};

struct ListFilter {
  std::vector<model::State> states;  // empty: all
  std::int64_t limit = 0;            // 0: all
  bool newest_first = false;
};

class Reader {
 public:
  virtual ~Reader() = default;
  // Each listing is one consistent snapshot.
  virtual base::Result<void> list(const ListFilter& filter, const std::function<void(const JobSummary&)>& each) = 0;
  virtual base::Result<void> files(std::int64_t limit, const std::function<void(const FileSummary&)>& each) = 0;
  // How many jobs are in each state, and how many files never became a job. Looks at every job: for people, not for
  // loops.
  struct Counts {
    std::array<std::int64_t, model::kStates> by_state{};
    std::int64_t files = 0;
  };
  virtual base::Result<Counts> counts() = 0;
  // Every job whose id starts with the prefix (lower-case hex and hyphens), at most `max`.
  virtual base::Result<std::vector<JobSummary>> find(const std::string& job_id_prefix, std::size_t max) = 0;
  virtual base::Result<std::vector<AttemptRow>> attempts(const base::JobSeq& seq) = 0;
  virtual base::Result<std::string> canonical_bytes(const base::JobSeq& seq) = 0;
  // Audit rows after `after`, of one job or of all, in order, at most `max`.
  virtual base::Result<std::vector<AuditRow>> audit(base::AuditSeq after, const std::optional<base::JobId>& job,
                                                    std::size_t max) = 0;
  // Walks the chain from the first row; the first row that breaks it, if any.
  struct ChainReport {
    std::int64_t rows = 0;
    base::Sha256 head;
    std::optional<base::AuditSeq> broken_at;
    std::string why;
  };
  virtual base::Result<ChainReport> verify_chain() = 0;
  virtual base::Result<std::vector<LeaseRow>> leases() = 0;
};

// kNotFound: there is no ledger yet. kDenied: no read rights. kCorrupt, kUnsupported as in ledger.h.
base::Result<std::unique_ptr<Reader>> open_sqlite_reader(const std::string& path, const base::Clock& clock);

}  // namespace intray::ledger
