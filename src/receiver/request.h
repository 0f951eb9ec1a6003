// Purpose:    the two requests as they go over the wire: fixed paths, fixed headers, an ASCII body.
// Trust:      a job influences the JSON body and, percent-encoded, the query of a read; nothing else.
// Thread use: values and pure functions.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "receiver/client.h"
#include "receiver/credential.h"

namespace intray::receiver {

inline constexpr std::string_view kSavePath = "/api/vault/save";
inline constexpr std::string_view kReadPath = "/api/vault/content?path=";

// What a read of this path asks for, with every octet but unreserved ones percent-encoded.
std::string read_url(std::string_view base_url, std::string_view vault_path);

// Bytes that render_save_body() gives, without rendering.
std::size_t save_body_bytes(std::string_view vault_path, std::string_view content);

// The headers that every request has. libcurl takes header lists by pointer, and copies each line into the request that
// it sends, the credential's among them; it does not wipe that copy.
class CommonHeaders {
 public:
  explicit CommonHeaders(BearerLine bearer);
  CommonHeaders(const CommonHeaders&) = delete;
  CommonHeaders& operator=(const CommonHeaders&) = delete;
  ~CommonHeaders() = default;

  curl_slist* for_read() { return lines_.data(); }
  curl_slist* for_save() { return &content_type_; }
  std::size_t bearer_bytes() const { return bearer_.size(); }

 private:
  BearerLine bearer_;
  std::string no_accept_ = "Accept:";  // without a value: libcurl leaves it out
  std::string no_expect_ = "Expect:";
  std::string json_ = "Content-Type: application/json";
  std::array<curl_slist, 3> lines_{};
  curl_slist content_type_{};
};

// The headers of one save, linked before the common ones.
class SaveHeaders {
 public:
  // Both texts are visible ASCII and come from our own ledger; anything else is our own mistake and aborts.
  SaveHeaders(std::string_view idempotency_key, const base::AttemptId& attempt, std::string_view fence);
  // Valid until this object moves or dies.
  curl_slist* link(curl_slist* common);

 private:
  std::string text_;  // three lines, each with a NUL
  std::array<std::size_t, 3> starts_{};
  std::array<curl_slist, 3> lines_{};
};

// Bytes of a save request's head as libcurl renders it, the blank line included. `host` is the Host header's value.
std::int64_t save_head_bytes(const SaveRequest& request, std::size_t body_bytes, std::string_view host,
                             std::size_t bearer_bytes);

}  // namespace intray::receiver
