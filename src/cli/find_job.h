// Purpose:    the one job that a person means by the beginning of its id.
// Trust:      the prefix is the caller's; never more than one job is picked.
// Thread use: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "cli/site.h"

namespace intray::cli {

// A job of the ledger, a file that was refused before it became one, or one that still lies in new/: exactly one is
// set.
struct FoundJob {
  model::JobKind kind = model::JobKind::kSave;
  std::shared_ptr<ledger::Reader> reader;  // of that kind; nullptr: it has no ledger yet
  std::optional<ledger::JobSummary> job;
  std::optional<ledger::FileSummary> file;  // canonical JSON with a job id
  std::optional<base::JobId> only_in_new;

  base::JobId id() const { return job ? job->job.facts.job_id : file ? *file->job_id : *only_in_new; }
};

// Lower-case hexadecimal digits and hyphens, at least 4 and at most 36. Upper case is taken too.
std::optional<std::string> normal_prefix(const std::string& text);

// kInvalid: no prefix of an id, or more than one job has it (a few are named). kNotFound: none has. Else the ledger's
// error.
base::Result<FoundJob> find_job(const Site& site, const std::string& text, const base::Clock& clock);

}  // namespace intray::cli
