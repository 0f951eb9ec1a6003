// Purpose:    an HTTP answer and its bytes.
// Trust:      bodies may carry what clients sent; headers are ours, or a fault specification's (the test's own).
// Thread use: pure functions.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace intray::vault_receiver {

struct Reply {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // beyond the usual ones
};

// {"error":<text>}; bytes of `text` that are not UTF-8 become U+FFFD.
Reply error_reply(int status, std::string_view text);

std::string_view reason_phrase(int status);

struct Persistence {
  bool keep_alive = true;
  std::chrono::milliseconds idle{5'000};  // zero: never closed for idleness, and not announced
};

// Head with Content-Type, Date, Connection, Keep-Alive and Content-Length, without the body. A 1xx answer is the bare
// status line; 204 and 304 have no length.
std::string render_head(const Reply& reply, const Persistence& persistence, base::WallTime now);
// The body as it is sent: empty for 1xx, 204 and 304.
std::string_view body_of(const Reply& reply);

}  // namespace intray::vault_receiver
