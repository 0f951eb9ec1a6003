// Purpose:    `intray submit FILE…` and `intray submit -`: finished jobs from files or standard input.
// Process:    the requester.
// Trust:      the text is the caller's: strict JSON of bounded size; its form need not be canonical.
// Thread use: one thread.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/sender.h"
#include "config/settings.h"
#include "model/job.h"

namespace intray::cli {

// A job's text, made canonical and judged by its contract.
struct ReadJob {
  model::JobKind kind = model::JobKind::kSave;
  std::optional<Outgoing> job;                // nullopt: can't be written canonically
  std::optional<model::Rejection> rejection;  // why the executor would refuse it
};
// `rules` of the kind that the job's own type names. Its label is left empty.
ReadJob read_job(std::string_view text, const model::JobRules& save_rules, const model::JobRules& delete_rules,
                 base::WallTime now);

// "-": standard input. There, and in names that end in .ndjson or .jsonl, each line is a job; other files hold one.
int run_submit_files(Console& console, const SubmitOptions& options, const std::vector<std::string>& files,
                     std::istream& standard_input);

}  // namespace intray::cli
