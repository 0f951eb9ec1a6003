// Purpose:    `intray ls [save|delete] [STATE…]`: what is where.
// Process:    anyone with read rights; nothing is locked, nothing written.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console.h"
#include "model/state.h"

namespace intray::cli {

struct LsOptions {
  std::string root;
  std::vector<std::string> words;  // a kind, states, NEW; in any order and letter case
  bool all = false;
  bool details = false;
  bool newest_first = false;
  bool reverse = false;
  bool ids_only = false;
  std::int64_t limit = 0;  // rows for each kind; 0: all
};

// What the words ask for. kInvalid: a word that is neither; the nearest is named.
struct LsSelection {
  std::optional<model::JobKind> kind;
  std::vector<model::State> states;
  bool fresh = false;  // NEW was named
  bool overview() const { return states.empty() && !fresh; }
};
base::Result<LsSelection> select_listing(const std::vector<std::string>& words);

int run_ls(Console& console, const LsOptions& options);

}  // namespace intray::cli
