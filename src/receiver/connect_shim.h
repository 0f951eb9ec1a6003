// Purpose:    connect() of every program that links this module: it answers 0 for descriptors that came connected from
//             intray-connector, EACCES for all others, and never enters the kernel.
// Process:    executors, and tests that link the receiver.
// Trust:      libraries that call connect() by themselves get nowhere.
// Thread use: one thread.
//
// libcurl before 8.0.0 calls connect() even where CURLOPT_SOCKOPTFUNCTION said that the descriptor is connected already
// (curl/curl#10626), gets EISCONN and gives up. A program's own definition comes first in symbol lookup, also for the
// calls of shared libraries. shim_works() proves it for the libraries at hand.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace intray::receiver {

// From now on connect(fd) succeeds, until the descriptor is forgotten. False: the number is out of range
// (limits::kDescriptorsMax); connect() will refuse it.
bool remember_connected(int fd);
// Before the descriptor is closed.
void forget_connected(int fd);

struct ShimCounts {
  std::uint64_t answered = 0;  // with success
  std::uint64_t refused = 0;
};
ShimCounts shim_counts();

// Runs one request through libcurl over a local socket pair whose other end is ours. Succeeds only where the transfer
// worked, which it can't where a connect(2) reached the kernel, and where libcurl's call arrived here if this version
// makes one. With `tls` a handshake is begun too, so that the TLS library has read its configuration and loaded its
// providers. Before lock-down: makes sockets and multi handles, opens files. kUnsupported: transfers over handed-over
// descriptors don't work here.
base::Result<void> shim_works(bool tls);

}  // namespace intray::receiver
