// Purpose:    whether a rename has exactly one winner here: the property that a claim rests on, tried on this
// filesystem. Thread use: one thread; forks.
#pragma once

#include <string>

#include "base/result.h"

namespace intray::sys {

struct RaceResult {
  int files = 0;
  int won = 0;      // by all racers together; `files`, where each rename had one winner
  int arrived = 0;  // files found at the goal afterwards
};
// `racers` processes each try renameat2(RENAME_NOREPLACE) on every one of `files` files of a folder `dir`/race, which
// is made for it and gone afterwards.
base::Result<RaceResult> race_renames(const std::string& dir, int files, int racers);

}  // namespace intray::sys
