// Purpose:    the command line of `intray`: what may be typed, and which command it becomes.
// Thread use: one thread.
#pragma once

namespace intray::cli {

// The whole program; the returned number is its exit code (exit_code.h).
int run(int argc, char** argv);

}  // namespace intray::cli
