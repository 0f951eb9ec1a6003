#include "vault-receiver/http_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "vault-receiver/bounds.h"

namespace intray::vault_receiver {
namespace {

constexpr auto kOnce =
    std::to_array<std::string_view>({"authorization", "content-length", "content-type", "expect", "host",
                                     "idempotency-key", "intray-fence", "transfer-encoding", "x-request-id"});

bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_char); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return lower(c); });
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool has_element(std::string_view list, std::string_view lower_word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (lower(trim(list.substr(0, comma))) == lower_word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

const std::string* Request::header(std::string_view lower_name) const {
  const auto found = std::ranges::find(headers, lower_name, &Header::name);
  return found == headers.end() ? nullptr : &found->value;
}

bool RequestReader::refuse(int status, std::string reason) {
  state_ = State::kRefused;
  refusal_ = Refusal{status, std::move(reason)};
  return false;
}

std::size_t RequestReader::take(std::string_view bytes) {
  std::size_t taken = 0;
  if (state_ == State::kReading && !in_body_) taken += take_head(bytes);
  if (state_ == State::kReading && in_body_) taken += take_body(bytes.substr(taken));
  return taken;
}

std::size_t RequestReader::take_head(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const std::size_t before = head_.size();
  // One byte beyond the bound is enough to see that the head is too long.
  const std::size_t room = kHeadBytesMax + 1 - before;
  head_.append(bytes.substr(0, room));
  if (!is_token_char(head_.front())) return refuse(400, "no request line"), bytes.size();
  // A line ended by LF alone would be read differently by different servers.
  for (auto at = head_.find('\n', before); at != std::string::npos; at = head_.find('\n', at + 1)) {
    if (at == 0 || head_[at - 1] != '\r') return refuse(400, "bare line feed"), bytes.size();
    if (at >= 3 && head_[at - 2] == '\n') {
      head_.resize(at + 1);
      break;
    }
  }
  const bool ended = head_.ends_with("\r\n\r\n");
  if (head_.size() > kHeadBytesMax) return refuse(431, "request head too large"), bytes.size();
  const std::size_t taken = head_.size() - before;
  if (ended) parse_head();
  return taken;
}

std::size_t RequestReader::take_body(std::string_view bytes) {
  const std::size_t taken = std::min(bytes.size(), body_bytes_ - request_.body.size());
  request_.body.append(bytes.substr(0, taken));
  if (request_.body.size() == body_bytes_) state_ = State::kComplete;
  return taken;
}

void RequestReader::parse_head() {
  std::string_view rest = head_;
  bool first = true;
  while (true) {
    const auto end = rest.find("\r\n");
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    if (line.empty()) break;
    if (!(first ? parse_request_line(line) : parse_header_line(line))) return;
    first = false;
  }
  if (!settle_framing()) return;
  in_body_ = true;
  take_body({});
}

bool RequestReader::parse_request_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return refuse(400, "malformed request line");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method)) return refuse(400, "malformed method");
  if (!target.starts_with('/') || !std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return refuse(400, "malformed request target");
  }
  if (version == "HTTP/1.0") {
    http_1_0_ = true;
  } else if (version != "HTTP/1.1") {
    return version.starts_with("HTTP/") ? refuse(505, "HTTP version not supported")
                                        : refuse(400, "malformed HTTP version");
  }
  const auto mark = target.find('?');
  request_.method = method;
  request_.path = target.substr(0, mark);
  if (mark != std::string_view::npos) request_.query = target.substr(mark + 1);
  return true;
}

bool RequestReader::parse_header_line(std::string_view line) {
  const auto colon = line.find(':');
  // A blank before the colon or at the start of the line (obsolete folding) has been used to smuggle requests.
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return refuse(400, "malformed header");
  const std::string_view value = trim(line.substr(colon + 1));
  const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; };
  if (std::ranges::any_of(value, is_control)) return refuse(400, "control character in header");
  if (request_.headers.size() == kHeaderCountMax) return refuse(431, "too many headers");
  std::string name = lower(line.substr(0, colon));
  if (std::ranges::find(kOnce, name) != kOnce.end() && request_.header(name) != nullptr) {
    return refuse(400, "header occurs twice: " + name);
  }
  request_.headers.push_back(Header{std::move(name), std::string(value)});
  return true;
}

bool RequestReader::settle_framing() {
  if (!http_1_0_ && request_.header("host") == nullptr) return refuse(400, "Host missing");
  request_.keep_alive = !http_1_0_;
  if (const std::string* connection = request_.header("connection")) {
    if (has_element(*connection, "close")) {
      request_.keep_alive = false;
    } else if (has_element(*connection, "keep-alive")) {
      request_.keep_alive = true;
    }
  }

  const std::string* length = request_.header("content-length");
  if (request_.header("transfer-encoding") != nullptr) {
    return length != nullptr ? refuse(400, "both Content-Length and Transfer-Encoding")
                             : refuse(501, "Transfer-Encoding not supported");
  }
  if (length == nullptr) {
    const auto& method = request_.method;
    if (method == "POST" || method == "PUT" || method == "PATCH") return refuse(411, "Content-Length missing");
    return true;
  }
  std::uint64_t bytes = 0;
  const char* const end = length->data() + length->size();
  const auto [stop, error] = std::from_chars(length->data(), end, bytes);
  if (error == std::errc::result_out_of_range) return refuse(413, "request body too large");
  if (error != std::errc{} || stop != end) return refuse(400, "malformed Content-Length");
  if (bytes > kBodyBytesMax) return refuse(413, "request body too large");
  body_bytes_ = static_cast<std::size_t>(bytes);

  if (const std::string* expect = request_.header("expect")) {
    if (lower(*expect) != "100-continue") return refuse(417, "expectation not supported");
    continue_wish_ = body_bytes_ > 0 && !http_1_0_;
  }
  return true;
}

bool RequestReader::take_continue_wish() {
  return std::exchange(continue_wish_, false) && state_ == State::kReading && request_.body.empty();
}

Request RequestReader::release() {
  Request out = std::move(request_);
  *this = RequestReader();
  return out;
}

bool form_decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return false;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return true;
}

bool query_member(std::string_view query, std::string_view name, std::string& out) {
  while (!query.empty()) {
    const auto end = query.find('&');
    const std::string_view member = query.substr(0, end);
    const auto equals = member.find('=');
    std::string key;
    if (form_decode(member.substr(0, equals), key) && key == name) {
      return form_decode(equals == std::string_view::npos ? std::string_view{} : member.substr(equals + 1), out);
    }
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace intray::vault_receiver
