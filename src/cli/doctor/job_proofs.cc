// What a job can't ask for, tried on the parser that the executor is built from.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/doctor/live_proofs.h"
#include "model/job.h"
#include "model/reason.h"

namespace intray::cli::doctor {
namespace {

Line line(Status status, std::string text) {
  return {.status = status, .name = {}, .text = std::move(text), .shown_by = {}};
}

// A job that every rule accepts; nlohmann's objects are sorted, and all of it is ASCII, so its dump is canonical.
nlohmann::json sound_job() {
  return {{"created_at", "2026-01-01T00:00:00Z"},
          {"expected_state", "UNSET"},
          {"idempotency_key", "11111111-1111-4111-8111-111111111111"},
          {"job_id", "22222222-2222-4222-8222-222222222222"},
          {"job_type", "C5_SAVE_OBJECT"},
          {"job_version", 1},
          {"mission_id", "33333333-3333-4333-8333-333333333333"},
          {"object_id", "p-0"},
          {"provenance_hash", std::string(64, '0')},
          {"source_commit", std::string(40, '1')},
          {"vault_path", "/app/vault/note.md"}};
}

// The word of the refusal; "": accepted.
std::string refusal(const nlohmann::json& job) {
  const auto parsed = model::parse_save_job(job.dump(), model::JobRules{});
  return parsed ? std::string() : std::string(model::to_word(parsed.error().reason));
}

// Each change, by itself, must make a sound job a refused one.
Line refused_with(const std::vector<std::pair<std::string, nlohmann::json>>& changes) {
  if (const std::string reason = refusal(sound_job()); !reason.empty())
    return line(Status::kSkipped, "the sound job that this is compared with was refused: " + reason);
  std::vector<std::string> reasons;
  for (const auto& [member, value] : changes) {
    nlohmann::json job = sound_job();
    job[member] = value;
    const std::string reason = refusal(job);
    if (reason.empty())
      return line(Status::kFail, fmt::format("a job with {} = {} was accepted", member, value.dump()));
    if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
  }
  std::vector<std::string> names;
  for (const auto& change : changes)
    if (std::ranges::find(names, change.first) == names.end()) names.push_back(change.first);
  return line(Status::kPass,
              fmt::format("{} jobs with {} of their own: all refused ({}), the same job without is sound",
                          changes.size(), fmt::join(names, ", "), fmt::join(reasons, ", ")));
}

}  // namespace

Line no_generic_dispatch(const Scene&, const std::vector<CellRow>&) {
  return refused_with({{"job_type", "C5_RUN_COMMAND"},
                       {"job_type", "C5_DELETE_OBJECT"},
                       {"job_type", "c5_save_object"},
                       {"job_type", "C5_SAVE_OBJECT "},
                       {"command", "true"},
                       {"operation", "delete"},
                       {"handler", "save"}});
}

Line no_arbitrary_url(const Scene&, const std::vector<CellRow>&) {
  return refused_with({{"url", "https://example.org/"},
                       {"receiver", "https://example.org/"},
                       {"host", "example.org"},
                       {"endpoint", "/api/vault/delete"},
                       {"vault_path", "https://example.org/note.md"},
                       {"vault_path", "/app/vault/../delete.md"}});
}

Line no_arbitrary_method(const Scene&, const std::vector<CellRow>&) {
  return refused_with({{"method", "DELETE"}, {"http_method", "PUT"}, {"verb", "PATCH"}});
}

Line no_arbitrary_headers(const Scene&, const std::vector<CellRow>&) {
  return refused_with({{"headers", {{"X-Other", "1"}}},
                       {"authorization", "Bearer x"},
                       {"idempotency_key", "11111111-1111-4111-8111-111111111111\r\nX-Other: 1"},
                       {"object_id", "p-0\r\nX-Other: 1"}});
}

}  // namespace intray::cli::doctor
