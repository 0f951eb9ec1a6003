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

// A job of the ledger, or one that still lies in new/.
struct FoundJob {
  model::JobKind kind = model::JobKind::kSave;
  std::shared_ptr<ledger::Reader> reader;       // of that kind; set with `job`
  std::optional<ledger::JobSummary> job;
  std::optional<base::JobId> only_in_new;
};

// Lower-case hexadecimal digits and hyphens, at least 4 and at most 36. Upper case is taken too.
std::optional<std::string> normal_prefix(const std::string& text);

// kInvalid: no prefix of an id, or more than one job has it (a few are named). kNotFound: none has. Else the ledger's error.
base::Result<FoundJob> find_job(const Site& site, const std::string& prefix, const base::Clock& clock);

}  // namespace intray::cli
