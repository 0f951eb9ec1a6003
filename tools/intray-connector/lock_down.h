// Purpose:    takes from the connector what it will not need: files, memory, every system call but a dozen.
// Process:    intray-connector, between its start and its first request. libc and libseccomp only.
// Trust:      nothing comes from the channel before it.
// Thread use: one thread.
#pragma once

#include "intray-connector/options.h"

namespace intray::connector {

// For good: descriptors other than the channel closed, no core, not dumpable, no new privileges, Landlock (no file at
// all; TCP to the address's port), and the filter of seccomp/connector.policy. False, said on stderr: the process must
// end.
bool lock_down(const Options& options, const Address& address);

}  // namespace intray::connector
