// Purpose:    `intray doctor`: proves the boundary between users on this machine, and prints who can do what.
// Process:    root, to become each user in turn; another user sees what it can try itself.
// Trust:      what the kernel answers. Nothing is left behind, and no job is touched.
// Thread use: one thread; children are forked.
#pragma once

#include <string>

#include "cli/console.h"

namespace intray::cli {

// kDone: no FAIL. kNo: a FAIL. kUnreadable: no site there, or not run as root, so that the boundary was not tried.
// kTryAgain: another doctor is at work.
int run_doctor(Console& console, const std::string& root);

}  // namespace intray::cli
