// Purpose:    `intray log [JOB] [-f]`: the audit trail.
// Thread use: one thread.
#pragma once

#include <optional>
#include <string>

#include "cli/console.h"

namespace intray::cli {

struct LogOptions {
  std::string root;
  std::string job;      // a prefix; "": all jobs
  bool follow = false;  // until a signal ends it
};

int run_log(Console& console, const LogOptions& options);

}  // namespace intray::cli
