#include "cli/show.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/audit_view.h"
#include "cli/exit_code.h"
#include "cli/find_job.h"
#include "cli/job_view.h"
#include "cli/json_line.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/words.h"
#include "model/canonical.h"

namespace intray::cli {
namespace {

constexpr std::size_t kTimelineRowsMax = 10'000;  // of one job; a job has a dozen

struct Story {
  ledger::JobSummary summary;
  std::string bytes;
  std::vector<ledger::AttemptRow> attempts;
  std::vector<ledger::AuditRow> timeline;
};

base::Result<Story> read_story(const FoundJob& found) {
  Story out{.summary = *found.job, .bytes = {}, .attempts = {}, .timeline = {}};
  out.bytes = INTRAY_TRY(found.reader->canonical_bytes(found.job->job.seq));
  out.attempts = INTRAY_TRY(found.reader->attempts(found.job->job.seq));
  out.timeline = INTRAY_TRY(found.reader->audit({}, found.job->job.facts.job_id, kTimelineRowsMax));
  return out;
}

nlohmann::json attempt_json(const ledger::AttemptRow& a) {
  return {{"attempt_id", a.attempt_id.str()},
          {"number", a.number},
          {"repetition", a.repetition},
          {"effect_key", a.effect_key.hex()},
          {"content_sha256", a.content_sha256.hex()},
          {"started_at", json_time(a.started_at)},
          {"ended_at", json_time(a.ended_at)},
          {"outcome", a.outcome.empty() ? nlohmann::json(nullptr) : nlohmann::json(a.outcome)},
          {"http_status", a.http_status ? nlohmann::json(*a.http_status) : nlohmann::json(nullptr)},
          {"observed_sha256", a.observed_sha256 ? nlohmann::json(a.observed_sha256->hex()) : nlohmann::json(nullptr)},
          {"epoch", a.epoch.value},
          {"fence", a.fence.value}};
}

void print_story_json(Console& console, const Story& story) {
  nlohmann::json object = job_json(story.summary);
  const auto members = model::parse_strict(story.bytes);
  object["members"] = members ? *members : nlohmann::json(nullptr);
  object["attempt_list"] = nlohmann::json::array();
  for (const ledger::AttemptRow& a : story.attempts) object["attempt_list"].push_back(attempt_json(a));
  object["timeline"] = nlohmann::json::array();
  for (const ledger::AuditRow& row : story.timeline) object["timeline"].push_back(audit_json(row));
  print_json(console, object);
}

class Fields {
 public:
  explicit Fields(Console& console) : console_(console) {}
  void add(std::string_view name, const std::string& value, Colour colour = Colour::kNone) {
    if (value.empty()) return;
    constexpr int kNameColumns = 13;
    const auto blanks = static_cast<std::size_t>(std::max(1, kNameColumns - width(name)));
    console_.out << console_.paint(Colour::kDim, name) << std::string(blanks, ' ') << console_.paint(colour, value)
                 << '\n';
  }

 private:
  Console& console_;
};

void print_head(Console& console, const Story& story) {
  const ledger::JobSummary& s = story.summary;
  const ledger::JobRecord& job = s.job;
  const base::WallTime now = console.clock.wall();
  const auto moment = [&](base::WallTime t) { return console.time(t) + " (" + ago(now - t) + ")"; };
  Fields fields(console);
  fields.add("job", job.facts.job_id.str(), Colour::kBold);
  std::string state(model::to_word(job.state));
  if (!why_of(s).empty()) state += ", " + why_of(s);
  fields.add("state", state + ", since " + moment(s.state_since), colour_of(job.state));
  fields.add("", std::string(explain(job.state)));
  if (s.reason)
    fields.add("", "'intray explain " + std::string(model::to_word(*s.reason)) + "' says more on the reason.");
  if (s.lease_over)
    fields.add(
        "",
        "The lease of its worker is over: it died, hangs, or has no room to renew. The next start takes the job over.",
        Colour::kRed);
  if (!model::is_ended(job.state) && job.may_have_effect)
    fields.add("", "An earlier attempt may have taken effect: the target is read before anything is sent.",
               Colour::kYellow);
  fields.add("path", base::escape(job.facts.vault_path));
  fields.add("object", base::escape(job.facts.object_id));
  fields.add("commit", job.facts.commit);
  fields.add("object state", base::escape(job.facts.expected_state));
  fields.add("mission", job.facts.mission_id.str());
  fields.add("idempotency", job.facts.idempotency_key.str());
  fields.add("created", moment(job.facts.created_at));
  fields.add("admitted", moment(job.admitted_at));
  if (job.state == model::State::kRetryable && job.not_before) fields.add("next try", console.time(*job.not_before));
  if (!model::is_ended(job.state)) fields.add("deadline", console.time(job.deadline_at));
  if (s.worker_id) fields.add("worker", s.worker_id->str());
  if (job.claim_deaths > 0) fields.add("deaths", count(job.claim_deaths, "worker") + " died on it while it ran alone");
  fields.add("job hash", job.job_sha256.hex());
}

void print_attempts(Console& console, const Story& story) {
  if (story.attempts.empty()) return;
  console.out << '\n';
  Table table(console, {{"TRY", Column::Fit::kWhole, true},
                        {"ATTEMPT"},
                        {"STARTED"},
                        {"TOOK", Column::Fit::kWhole, true},
                        {"OUTCOME"},
                        {"HTTP"},
                        {"FENCE", Column::Fit::kWhole, true}});
  for (const ledger::AttemptRow& a : story.attempts) {
    const auto took = a.ended_at
                          ? std::optional(std::chrono::round<std::chrono::milliseconds>(*a.ended_at - a.started_at))
                          : std::nullopt;
    table.add({{std::to_string(a.number)},
               {a.attempt_id.str()},
               {console.time(a.started_at)},
               {took ? std::to_string(took->count()) + "ms" : "-"},
               {a.outcome.empty() ? "in flight" : a.outcome},
               {a.http_status ? std::to_string(*a.http_status) : "-"},
               {std::to_string(a.fence.value)}});
  }
  table.finish();
}

void print_timeline(Console& console, const Story& story) {
  console.out << '\n';
  Table table(console, {{"WHEN"}, {"EVENT"}, {"WHAT", Column::Fit::kCutEnd}});
  for (const ledger::AuditRow& row : story.timeline)
    table.add({{console.time(row.at)}, {row.event}, {audit_text(row), colour_of(row)}});
  table.finish();
}

// Refused before it became a job: the ledger has a row for the file, none for a job.
int show_file(Console& console, const FoundJob& found) {
  const ledger::FileSummary& file = *found.file;
  if (console.json) {
    nlohmann::json object = file_json(file);
    object["kind"] = model::to_word(found.kind);
    print_json(console, object);
    return kDone;
  }
  Fields fields(console);
  fields.add("job", file.job_id->str(), Colour::kBold);
  fields.add("state", "REJECTED, " + std::string(model::to_word(file.reason)), Colour::kYellow);
  fields.add("", file.detail);
  fields.add("", "The file was refused before it became a job. Nothing was sent.");
  fields.add("", "'intray explain " + std::string(model::to_word(file.reason)) + "' says more on the reason.");
  fields.add("file", file.dropped_name);
  fields.add("owner", "uid " + std::to_string(file.owner_uid));
  fields.add("taken", console.time(file.taken_at) + " (" + ago(console.clock.wall() - file.taken_at) + ")");
  return kDone;
}

int show_new(Console& console, const FoundJob& found) {
  const std::string id = found.only_in_new->str();
  if (console.json) {
    print_json(console, {{"type", "new"}, {"kind", model::to_word(found.kind)}, {"state", "NEW"}, {"job_id", id}});
    return kDone;
  }
  Fields fields(console);
  fields.add("job", id, Colour::kBold);
  fields.add("state", "NEW");
  fields.add("", "Handed over, and not taken by the executor yet.");
  return kDone;
}

}  // namespace

int run_show(Console& console, const std::string& root, const std::string& job) {
  const auto site = find_site(root);
  if (!site) {
    complain(console, site.error());
    return kUnreadable;
  }
  const auto found = find_job(*site, job, console.clock);
  if (!found) {
    complain(console, found.error());
    const base::ErrorCode code = found.error().code;
    if (code == base::ErrorCode::kInvalid) return kNo;
    return code == base::ErrorCode::kNotFound && kinds_of(*site, std::nullopt) ? kNo : exit_code_of(found.error());
  }
  if (found->file) return show_file(console, *found);
  if (!found->job) return show_new(console, *found);
  const auto story = read_story(*found);
  if (!story) {
    complain(console, story.error());
    return exit_code_of(story.error());
  }
  if (console.json) {
    print_story_json(console, *story);
    return kDone;
  }
  print_head(console, *story);
  print_attempts(console, *story);
  print_timeline(console, *story);
  return kDone;
}

}  // namespace intray::cli
