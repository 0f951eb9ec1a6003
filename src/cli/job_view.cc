#include "cli/job_view.h"

#include <nlohmann/json.hpp>

#include "cli/json_line.h"
#include "cli/text.h"

namespace intray::cli {
namespace {

using Json = nlohmann::json;

template <class T>
Json id_or_null(const std::optional<T>& id) {
  return id ? Json(id->str()) : Json(nullptr);
}
template <class T>
Json word_or_null(const std::optional<T>& word) {
  return word ? Json(model::to_word(*word)) : Json(nullptr);
}

}  // namespace

std::string why_of(const ledger::JobSummary& summary) {
  if (summary.reason) return std::string(model::to_word(*summary.reason));
  if (summary.result) return std::string(model::to_word(*summary.result));
  return {};
}

std::string age_of(const ledger::JobSummary& summary, base::WallTime now) { return age(now - summary.state_since); }

std::string short_id(const std::string& id) { return id.substr(0, 8); }

Json job_json(const ledger::JobSummary& summary) {
  const ledger::JobRecord& job = summary.job;
  return {{"type", "job"},
          {"kind", model::to_word(job.facts.kind)},
          {"state", model::to_word(job.state)},
          {"reason", word_or_null(summary.reason)},
          {"result", word_or_null(summary.result)},
          {"job_id", job.facts.job_id.str()},
          {"mission_id", job.facts.mission_id.str()},
          {"idempotency_key", job.facts.idempotency_key.str()},
          {"object_id", job.facts.object_id},
          {"vault_path", job.facts.vault_path},
          {"commit", job.facts.commit},
          {"job_sha256", job.job_sha256.hex()},
          {"attempts", job.attempt_count},
          {"deaths", job.claim_deaths},
          {"may_have_effect", job.may_have_effect},
          {"worker_id", id_or_null(summary.worker_id)},
          {"lease_over", summary.lease_over},
          {"created_at", json_time(job.facts.created_at)},
          {"admitted_at", json_time(job.admitted_at)},
          {"state_since", json_time(summary.state_since)},
          {"not_before", json_time(job.not_before)},
          {"deadline_at", json_time(job.deadline_at)},
          {"finished_at", json_time(summary.finished_at)},
          {"seq", job.seq.value},
          {"follows_seq", job.follows ? Json(job.follows->value) : Json(nullptr)}};
}

Json file_json(const ledger::FileSummary& file) {
  return {{"type", "file"},
          {"state", model::to_word(model::State::kRejected)},
          {"reason", model::to_word(file.reason)},
          {"detail", file.detail},
          {"name_escaped", file.dropped_name},
          {"job_id", id_or_null(file.job_id)},
          {"owner_uid", file.owner_uid},
          {"taken_at", json_time(file.taken_at)},
          {"take", file.take.value}};
}

}  // namespace intray::cli
