// Purpose:    says from the facts of one exchange how far it went (model::Transport).
// Trust:      in doubt the request may have had an effect.
// Thread use: pure.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <string_view>

#include "model/outcome.h"

namespace intray::receiver {

struct Facts {
  CURLcode result = CURLE_OK;
  std::string_view error_text = {};  // libcurl's, where it gave one
  bool tls = false;
  bool grant_refused = false;   // at the first call of the pre-request callback
  bool request_begun = false;   // the pre-request callback let it pass
  bool second_try = false;      // libcurl wanted to send it again, and was refused
  std::int64_t bytes_sent = 0;  // of the request, as handed to the kernel; over TLS only what was handed over whole
  bool answer_begun = false;    // any byte of an answer
  bool head_complete = false;   // its last head ended with a blank line
};

model::Transport transport_of(const Facts& facts);

}  // namespace intray::receiver
