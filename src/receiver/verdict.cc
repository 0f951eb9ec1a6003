#include "receiver/verdict.h"

#include <algorithm>
#include <array>

namespace intray::receiver {
namespace {

using model::Transport;

bool is_tls_failure(CURLcode result) {
  switch (result) {
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_CLIENTCERT:
    case CURLE_USE_SSL_FAILED: return true;
    default: return false;
  }
}

// A receiver that restarts cuts handshakes. libcurl has one code for that and for a refusal; only its text tells them
// apart. A person is not needed for the former, and nothing was sent in both.
bool is_cut_handshake(const Facts& facts) {
  constexpr std::array<std::string_view, 3> kSigns{"SSL_ERROR_SYSCALL", "Connection reset", "unexpected eof"};
  return facts.result == CURLE_SSL_CONNECT_ERROR &&
         std::ranges::any_of(kSigns, [&](std::string_view sign) { return facts.error_text.contains(sign); });
}

}  // namespace

Transport transport_of(const Facts& facts) {
  if (facts.grant_refused) return Transport::kRefused;
  if (!facts.request_begun) {
    return is_tls_failure(facts.result) && !is_cut_handshake(facts) ? Transport::kTls : Transport::kNotSent;
  }
  if (facts.result == CURLE_OK && facts.head_complete) return Transport::kAnswered;
  // The kernel took not one byte. Over TLS a record may have left in part without being counted.
  const bool nothing_left = facts.bytes_sent == 0 && !facts.answer_begun && !facts.second_try && !facts.tls;
  return nothing_left && facts.result != CURLE_OK ? Transport::kNotSent : Transport::kLost;
}

}  // namespace intray::receiver
