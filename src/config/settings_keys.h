// Purpose:    the table of every setting of an executor; see key_table.h.
// Thread use: constant data after the first call.
#pragma once

#include <vector>

#include "config/key_table.h"
#include "config/settings.h"

namespace intray::config {

// Top-level keys first, then table by table: the order of the written file and of the man page.
const std::vector<Key<Settings>>& settings_keys();

// Rules between settings: what each value alone can't show. `seen` tells what the file itself set.
void check_together(const Settings& settings, const Seen& seen, std::vector<Problem>& problems);

}  // namespace intray::config
