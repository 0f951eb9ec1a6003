// Purpose:    attempts from within the connector's own lock-down (tools/intray-connector/lock_down.cc).
// Process:    tests/sandbox.
// Trust:      as attempt.h.
// Thread use: one thread; it forks.
#pragma once

#include "attempt.h"

namespace intray::test {

struct ConnectorWorld {
  int channel = -1;

  int port = 0;  // the one that may be dialled, on 127.0.0.1
  int other_port = 0;
};

// In a child, as an ordinary user, after the real lock-down.
Outcome connector_attempt(const std::function<long(const ConnectorWorld&)>& act);

}  // namespace intray::test
