#include "ledger/sqlite/claims.h"

#include <algorithm>

#include "ledger/sqlite/outcomes.h"

namespace intray::ledger::sqlite {
namespace {

base::Result<std::optional<base::JobSeq>> one_seq(Use& use) {
  if (!INTRAY_TRY(use.next())) return std::nullopt;
  return use.number<base::JobSeq>();
}

base::Result<std::vector<base::JobSeq>> all_seqs(Use& use) {
  std::vector<base::JobSeq> seqs;
  while (INTRAY_TRY(use.next())) seqs.push_back(use.number<base::JobSeq>());
  return seqs;
}

base::Result<std::vector<base::JobSeq>> ready_after(Work& work, base::JobSeq after, std::int64_t max) {
  Use use(work.sql.ready_jobs);
  return all_seqs(use.bind(after).bind(max));
}

base::Result<void> read_settling(Work& work) {
  Use use(work.sql.settling);
  use.bind(work.now);
  work.settling.emplace();
  while (INTRAY_TRY(use.next())) {
    Settling& settling = work.settling->emplace_back();
    settling.seq = use.number<base::JobSeq>();
    settling.object_id = use.text();
    settling.vault_path = use.text();
    settling.until = use.time();
  }
  return use.intact();
}

// Claims the job where it can run now. False: it waits on.
base::Result<bool> try_claim(Work& work, base::JobSeq seq, bool solo, std::vector<JobRecord>& claimed,
                             std::vector<Ended>& ended) {
  auto job = INTRAY_TRY(load_job(work, seq));
  if (!job) return false;
  const JobFacts& facts = job->facts;
  if (INTRAY_TRY(occupant_before(work, facts.object_id, facts.vault_path, seq))) return false;
  if (INTRAY_TRY(is_settling(work, facts.object_id, facts.vault_path, seq))) return false;
  if (INTRAY_TRY(end_if_late(work, *job, ended))) return false;
  INTRAY_TRY(claim(work, *job, solo));
  claimed.push_back(*job);
  return true;
}

}  // namespace

base::Result<std::optional<base::JobSeq>> occupant_before(Work& work, const std::string& object_id,
                                                          const std::string& vault_path, base::JobSeq seq) {
  Use object_use(work.sql.lane_object);
  const auto of_object = INTRAY_TRY(one_seq(object_use.bind(object_id).bind(seq)));
  Use path_use(work.sql.lane_path);
  const auto of_path = INTRAY_TRY(one_seq(path_use.bind(vault_path).bind(seq)));
  return std::max(of_object, of_path);  // nullopt is the least
}

base::Result<bool> is_settling(Work& work, const std::string& object_id, const std::string& vault_path,
                               base::JobSeq seq) {
  if (!work.settling) INTRAY_TRY(read_settling(work));
  return std::any_of(work.settling->begin(), work.settling->end(), [&](const Settling& settling) {
    return settling.seq != seq && (settling.object_id == object_id || settling.vault_path == vault_path);
  });
}

base::Result<void> leave_lanes(Work& work, base::JobSeq seq) {
  struct Successor {
    base::JobSeq seq;
    std::string object_id;
    std::string vault_path;
  };
  std::vector<Successor> successors;  // at most the next of the object and the next of the path
  {
    Use use(work.sql.jobs_behind);
    use.bind(seq);
    while (INTRAY_TRY(use.next())) {
      Successor& successor = successors.emplace_back();
      successor.seq = use.number<base::JobSeq>();
      successor.object_id = use.text();
      successor.vault_path = use.text();
    }
  }
  for (const Successor& successor : successors) {
    const auto behind = INTRAY_TRY(occupant_before(work, successor.object_id, successor.vault_path, successor.seq));
    Use use(work.sql.set_behind);
    INTRAY_TRY(use.bind(behind).bind(successor.seq).bind(seq).swap());
  }
  return {};
}

base::Result<void> claim(Work& work, Job& job, bool solo) {
  const model::Edge* edge = edge_for(work, job, model::Event::kClaim, model::State::kClaimed);
  if (edge == nullptr)
    return base::fail(base::ErrorCode::kStale, "job can't be claimed from " + std::string(to_word(job.state)));
  job.claim_id = base::ClaimId::generate();
  job.fence = work.draw_fence();
  job.epoch = work.held.epoch;
  job.worker_id = work.held.connector_id;
  job.solo = solo;
  job.not_before.reset();
  AuditRow row = move_of(work, job, "CLAIMED", *edge);
  INTRAY_TRY(record(work, job, row));
  const base::WallTime lease_until = work.now + base::Micros{work.policy.job_lease_us};
  Use use(work.sql.claim_job);
  use.bind(work.now).bind(solo).bind(work.held.identity.binding).bind(job.worker_id).bind(job.claim_id).bind(job.epoch);
  use.bind(job.fence).bind(work.now).bind(lease_until).bind(job.last_audit).bind(job.seq).bind(job.state);
  INTRAY_TRY(use.bind(job.revision).swap());
  job.state = model::State::kClaimed;
  ++job.revision;
  return {};
}

base::Result<std::vector<JobRecord>> claim_waiting(Work& work, int max, std::vector<Ended>& ended) {
  std::vector<JobRecord> claimed;
  std::vector<base::JobSeq> due;
  {
    Use use(work.sql.due_jobs);
    due = INTRAY_TRY(all_seqs(use.bind(work.now).bind(max)));
  }
  std::vector<base::JobSeq> ready = INTRAY_TRY(ready_after(work, base::JobSeq{0}, max));
  std::sort(due.begin(), due.end());
  auto next_due_job = due.begin();
  auto next_ready = ready.begin();
  // Ready jobs that can't run now (their object settles) are stepped over, so that they hold nobody up.
  while (std::ssize(claimed) < max) {
    if (next_ready == ready.end() && !ready.empty() && std::ssize(ready) == max) {
      ready = INTRAY_TRY(ready_after(work, ready.back(), max));
      next_ready = ready.begin();
    }
    const bool has_due = next_due_job != due.end();
    const bool has_ready = next_ready != ready.end();
    if (!has_due && !has_ready) break;
    const bool take_due = has_due && (!has_ready || *next_due_job < *next_ready);
    const base::JobSeq seq = take_due ? *next_due_job++ : *next_ready++;
    INTRAY_TRY(try_claim(work, seq, false, claimed, ended));
  }
  return claimed;
}

base::Result<std::vector<JobRecord>> claim_suspect(Work& work, std::vector<Ended>& ended) {
  std::vector<JobRecord> claimed;
  std::optional<base::JobSeq> oldest;
  {
    Use use(work.sql.oldest_suspect);
    oldest = INTRAY_TRY(one_seq(use.bind(work.now)));
  }
  if (oldest) INTRAY_TRY(try_claim(work, *oldest, true, claimed, ended));
  return claimed;
}

base::Result<std::optional<base::WallTime>> next_due(Statements& sql, base::WallTime now) {
  std::optional<base::WallTime> due;
  Use retry(sql.next_retry);
  if (INTRAY_TRY(retry.next())) due = retry.time();
  Use settled(sql.next_settled);
  if (INTRAY_TRY(settled.bind(now).next())) {
    const base::WallTime until = settled.time();
    if (!due || until < *due) due = until;
  }
  return due;
}

}  // namespace intray::ledger::sqlite
