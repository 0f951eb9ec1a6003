#include "receiver/response.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

#include "limits.h"

namespace intray::receiver {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr base::Micros kRetryAfterMax{limits::kRetryAfterMax_us};
// libcurl reads years of eight digits, too; such a time in microseconds overflows. What is later is as good as this.
constexpr time_t kDateMax_s = 253'402'300'799;  // the end of the year 9999
// Three fifths: of the usual 5 s, 3 s. The rest is for the way there, and for a server that counts differently.
constexpr std::int64_t kIdleShareOfTen = 6;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Digits only; what is too large for the type is as good as the largest bound.
std::optional<base::Micros> parse_seconds(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || seconds > limits::kRetryAfterMax_us / kMicrosPerSecond) return kRetryAfterMax;
  return base::Micros{seconds * kMicrosPerSecond};
}

template <class T>
void keep_larger(std::optional<T>& kept, const T& candidate) {
  if (!kept || *kept < candidate) kept = candidate;
}

}  // namespace

void Response::begin(std::size_t body_bytes_max, std::size_t* held_bytes) {
  drop_body();
  body_bytes_max_ = body_bytes_max;
  held_bytes_ = held_bytes;
  head_bytes_ = 0;
  head_complete_ = false;
  retry_after_.reset();
  retry_at_.reset();
  idle_limit_.reset();
}

void Response::drop_body() {
  if (held_bytes_ != nullptr) *held_bytes_ -= body_.size();
  body_.clear();
  if (body_.capacity() > limits::kAnswerBodyBytesMax) body_.shrink_to_fit();
}

bool Response::take_header_line(std::string_view line) {
  head_bytes_ += line.size();
  if (head_bytes_ > limits::kAnswerHeadBytesMax) return false;
  if (line.starts_with("HTTP/")) {
    head_complete_ = false;
    retry_after_.reset();
    retry_at_.reset();
    return true;
  }
  if (trim(line).empty()) {
    head_complete_ = true;
    return true;
  }
  const std::size_t colon = line.find(':');
  if (!head_complete_ && colon != std::string_view::npos)
    take_field(line.substr(0, colon), trim(line.substr(colon + 1)));
  return true;
}

void Response::take_field(std::string_view name, std::string_view value) {
  if (same_word(name, "Retry-After")) {
    if (const auto wait = parse_seconds(value)) {
      keep_larger(retry_after_, *wait);
    } else if (const time_t at = curl_getdate(std::string(value).c_str(), nullptr); at >= 0) {
      keep_larger(retry_at_, base::WallTime{std::chrono::seconds(std::min(at, kDateMax_s))});
    }
  } else if (same_word(name, "Keep-Alive")) {
    const std::size_t found = value.find("timeout=");
    if (found == std::string_view::npos) return;
    const std::string_view digits = value.substr(found + std::string_view("timeout=").size());
    const std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    if (const auto limit = parse_seconds(digits.substr(0, end))) idle_limit_ = *limit / 10 * kIdleShareOfTen;
  }
}

bool Response::take_body(std::string_view bytes) {
  if (bytes.size() > body_bytes_max_ - body_.size()) return false;
  if (held_bytes_ != nullptr) {
    if (bytes.size() > limits::kReadBytesHeldMax - *held_bytes_) return false;
    *held_bytes_ += bytes.size();
  }
  body_.append(bytes);
  return true;
}

std::optional<base::Micros> Response::retry_after(base::WallTime now) const {
  std::optional<base::Micros> wait = retry_after_;
  if (retry_at_) keep_larger(wait, std::clamp(*retry_at_ - now, base::Micros{0}, kRetryAfterMax));
  return wait;
}

}  // namespace intray::receiver
