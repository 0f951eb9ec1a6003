// Purpose:    the listening socket.
// Trust:      the address is the operator's; anything but loopback needs his express word.
// Thread use: one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "vault-receiver/fd.h"

namespace intray::vault_receiver {

struct Listener {
  Fd socket;            // non-blocking, listening
  std::string address;  // "127.0.0.1:41234" or "[::1]:41234", with the real port
};

// `address`: ADDRESS:PORT or [ADDRESS]:PORT, numbers only; port 0 takes a free one. Errors: kInvalid: malformed;
// kDenied: not a loopback address and not `any_allowed`; else as bind(2).
base::Result<Listener> listen_at(std::string_view address, bool any_allowed);

}  // namespace intray::vault_receiver
