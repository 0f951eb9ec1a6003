// Purpose:    `intray config check [FILE]`: every setting with its value, default and source, or everything wrong with
//             the file.
// Thread use: one thread.
#pragma once

#include <string>

#include "cli/console.h"

namespace intray::cli {

// Without a file: the site's own ones, the lease policy among them. kNo: something is wrong; kUnreadable: not there.
int run_config_check(Console& console, const std::string& root, const std::string& file);

}  // namespace intray::cli
