#include "receiver/request.h"

#include <algorithm>
#include <cstdlib>

#include "base/log.h"

namespace intray::receiver {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";
constexpr std::string_view kIdempotencyKey = "Idempotency-Key: ";
constexpr std::string_view kRequestId = "X-Request-Id: ";
constexpr std::string_view kFence = "Intray-Fence: ";
constexpr std::string_view kContentType = "Content-Type: application/json";
constexpr std::size_t kUuidBytes = 36;

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void require_header_value(std::string_view value) {
  if (!value.empty() && std::ranges::all_of(value, [](char c) { return c > 0x20 && c < 0x7f; })) return;
  base::log(base::LogLevel::kError, "header_value_invalid", {{"value", value}});
  std::abort();
}

std::size_t decimal_digits(std::size_t n) {
  std::size_t digits = 1;
  for (; n >= 10; n /= 10) ++digits;
  return digits;
}

}  // namespace

std::string read_url(std::string_view base_url, std::string_view vault_path) {
  std::string out;
  out.reserve(base_url.size() + kReadPath.size() + vault_path.size() * 3);
  out.append(base_url).append(kReadPath);
  for (const char c : vault_path) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto octet = static_cast<unsigned char>(c);
    out += '%';
    out += kHexDigits[octet >> 4U];
    out += kHexDigits[octet & 0xfU];
  }
  return out;
}

CommonHeaders::CommonHeaders(BearerLine bearer) : bearer_(std::move(bearer)) {
  lines_[0] = {.data = bearer_.header_data(), .next = &lines_[1]};
  lines_[1] = {.data = no_accept_.data(), .next = &lines_[2]};
  lines_[2] = {.data = no_expect_.data(), .next = nullptr};
  content_type_ = {.data = json_.data(), .next = lines_.data()};
}

SaveHeaders::SaveHeaders(std::string_view idempotency_key, const base::AttemptId& attempt, std::string_view fence) {
  require_header_value(idempotency_key);
  require_header_value(fence);
  text_.reserve(kIdempotencyKey.size() + idempotency_key.size() + kRequestId.size() + kUuidBytes + kFence.size() +
                fence.size() + 3);
  text_.append(kIdempotencyKey).append(idempotency_key).push_back('\0');
  starts_[1] = text_.size();
  text_.append(kRequestId).append(attempt.str()).push_back('\0');
  starts_[2] = text_.size();
  text_.append(kFence).append(fence).push_back('\0');
}

curl_slist* SaveHeaders::link(curl_slist* common) {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    lines_.at(i) = {.data = text_.data() + starts_.at(i), .next = i + 1 < lines_.size() ? &lines_.at(i + 1) : common};
  return lines_.data();
}

std::int64_t save_head_bytes(const SaveRequest& request, std::size_t body_bytes, std::string_view host,
                             std::size_t bearer_bytes) {
  constexpr std::size_t kLineEnd = 2;
  const std::size_t head = std::string_view("POST  HTTP/1.1").size() + kSavePath.size() + kLineEnd +  //
                           std::string_view("Host: ").size() + host.size() + kLineEnd +
                           std::string_view("User-Agent: intray/" INTRAY_VERSION).size() + kLineEnd +
                           kIdempotencyKey.size() + request.idempotency_key.size() + kLineEnd +  //
                           kRequestId.size() + kUuidBytes + kLineEnd +                           //
                           kFence.size() + request.fence.size() + kLineEnd +                     //
                           kContentType.size() + kLineEnd +                                      //
                           bearer_bytes + kLineEnd +                                             //
                           std::string_view("Content-Length: ").size() + decimal_digits(body_bytes) + kLineEnd +
                           kLineEnd;
  return static_cast<std::int64_t>(head);
}

}  // namespace intray::receiver
