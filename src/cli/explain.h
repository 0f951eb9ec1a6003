// Purpose:    `intray explain [CODE]`: a word of ours in plain words.
// Thread use: one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace intray::cli {

// Without a word: all of them, one a line. kNo: not a word of ours; the nearest is named.
// `commands`: what this version has; texts may name others.
int run_explain(Console& console, const std::string& word, const std::vector<std::string>& commands);

}  // namespace intray::cli
