// Purpose:    a console whose two streams a test reads.
// Thread use: one test.
#pragma once

#include <sstream>

#include "base/clock.h"
#include "cli/console.h"

namespace intray::cli {

struct TestConsole {
  std::ostringstream out;
  std::ostringstream err;
  base::FakeClock clock;
  Console console{.out = out, .err = err, .clock = clock, .utc = true};
};

}  // namespace intray::cli
