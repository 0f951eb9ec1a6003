#include "executor/projection.h"

#include "base/log.h"
#include "inbox/placement.h"

namespace intray::executor {
namespace {

using base::LogLevel;

inbox::JobName job_name(std::int64_t created_us, const base::JobId& id) { return {base::from_us(created_us), id}; }

void complain(std::string_view event, const std::string& name, const base::Error& error) {
  base::log(LogLevel::kWarn, event, {{"file", name}, {"error", error.what}});
}

}  // namespace

std::string final_word(const model::Receipt& receipt) {
  return std::string(receipt.reason ? model::to_word(*receipt.reason) : model::to_word(receipt.result));
}

Projection::Projection(const inbox::Inbox& inbox, base::Slot slot, const base::Clock& clock)
    : inbox_(inbox),
      lease_(inbox.slots.at(static_cast<std::size_t>(slot.value))),
      clock_(clock),
      writer_(inbox.receipts, inbox.file_mode) {}

void Projection::to_cur(const std::string& lease_name, const ledger::JobRecord& job) {
  inbox::PlacedName name;
  name.job = job_name(job.name_created_us, job.facts.job_id);
  if (auto placed = inbox::place(lease_, lease_name, inbox_.cur, name); !placed)
    complain("file_not_moved", lease_name, placed.error());
}

void Projection::to_cur(const std::string& lease_name) {
  const auto parsed = inbox::LeaseName::parse(lease_name);
  if (!parsed || !parsed->job) return;
  inbox::PlacedName name;
  name.job = parsed->job;
  if (auto placed = inbox::place(lease_, lease_name, inbox_.cur, name); !placed)
    complain("file_not_moved", lease_name, placed.error());
}

std::string Projection::claim_from_cur(const ledger::JobRecord& job, base::TakeNumber take) {
  inbox::LeaseName as;
  as.take = take;
  as.job = job_name(job.name_created_us, job.facts.job_id);
  inbox::PlacedName name;
  name.job = as.job;
  const std::string from = name.str();
  if (auto moved = inbox_.cur.move(from, lease_, as.str()); !moved) complain("file_not_moved", from, moved.error());
  return as.str();
}

void Projection::to_final(const ledger::Ended& ended, const std::string& lease_name) {
  if (ended.from == ledger::Ended::From::kNowhere || !ended.receipt.job_id) return;
  inbox::PlacedName name;
  name.job = job_name(ended.name_created_us, *ended.receipt.job_id);
  const bool waiting = ended.from == ledger::Ended::From::kCur;
  const std::string from = waiting ? name.str() : lease_name;
  name.word = final_word(ended.receipt);
  if (auto placed = inbox::place(waiting ? inbox_.cur : lease_, from, inbox_.place_of(ended.receipt.state), name);
      !placed)
    complain("file_not_moved", from, placed.error());
}

void Projection::to_rejected(const inbox::LeaseName& lease_name, base::WallTime taken, model::Reason reason) {
  inbox::PlacedName name;
  name.job = lease_name.job;
  name.taken = taken;
  name.take = lease_name.take;
  name.word = std::string(model::to_word(reason));
  if (auto placed = inbox::place(lease_, lease_name.str(), inbox_.rejected, name); !placed)
    complain("file_not_moved", lease_name.str(), placed.error());
}

void Projection::drop(const std::string& lease_name) {
  if (auto gone = lease_.unlink(lease_name); !gone) complain("duplicate_not_removed", lease_name, gone.error());
}

void Projection::issue(std::span<const model::Receipt> receipts) {
  for (const model::Receipt& r : receipts) {
    unwritten_.push_back(model::to_line(r));
    issued_through_ = std::max(issued_through_, r.audit_seq);
  }
  if (unwritten_.empty()) return;
  if (auto written = writer_.append(unwritten_, clock_.wall()); !written) {
    base::log(LogLevel::kError, "receipts_not_written",
              {{"waiting", unwritten_.size()}, {"error", written.error().what}});
    return;
  }
  unwritten_.clear();
}

base::Result<std::optional<base::AuditSeq>> Projection::sync_receipts() {
  issue({});
  if (!unwritten_.empty()) return base::fail(base::ErrorCode::kUnavailable, "receipts wait to be written");
  if (auto synced = writer_.sync(); !synced) return std::unexpected(synced.error());
  if (issued_through_ <= marked_through_) return std::nullopt;
  marked_through_ = issued_through_;
  return marked_through_;
}

}  // namespace intray::executor
