// Purpose:    a job of the ledger as text and as JSON: what ls and show have in common.
// Trust:      fields that came from a job passed the contract; paths may still hold wide or odd letters, never control
//             ones.
// Thread use: pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/console.h"
#include "ledger/reader.h"

namespace intray::cli {

// Reason, or the result where there is none, or "".
std::string why_of(const ledger::JobSummary& summary);
// Since when the job is in its state, as an age.
std::string age_of(const ledger::JobSummary& summary, base::WallTime now);
// The first 8 characters of an id: enough for `show` most of the time, which says so when it is not.
std::string short_id(const std::string& id);

nlohmann::json job_json(const ledger::JobSummary& summary);
nlohmann::json file_json(const ledger::FileSummary& file);

}  // namespace intray::cli
