// Purpose:    `intray explain [CODE]`: a word of ours in plain words.
// Thread use: one thread.
#pragma once

#include <string>

#include "cli/console.h"

namespace intray::cli {

// Without a word: all of them, one a line. kNo: not a word of ours; the nearest is named.
int run_explain(Console& console, const std::string& word);

}  // namespace intray::cli
