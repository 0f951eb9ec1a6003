// Purpose:    `intray show JOB`: everything known of one job.
// Thread use: one thread.
#pragma once

#include <string>

#include "cli/console.h"

namespace intray::cli {

int run_show(Console& console, const std::string& root, const std::string& job);

}  // namespace intray::cli
