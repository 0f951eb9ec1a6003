// Purpose:    `intray submit FILE…` and `intray submit -`: finished jobs from files or standard input.
// Process:    the requester.
// Trust:      the text is the caller's: strict JSON of bounded size; its form need not be canonical.
// Thread use: one thread.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/sender.h"

namespace intray::cli {

// "-": standard input. There, and in names that end in .ndjson or .jsonl, each line is a job; other files hold one.
int run_submit_files(Console& console, const SubmitOptions& options, const std::vector<std::string>& files,
                     std::istream& standard_input);

}  // namespace intray::cli
