#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/escape.h"
#include "limits.h"
#include "receiver/descriptor_pool.h"

namespace intray::receiver {
namespace {

constexpr std::string_view kHttp = "http://";
constexpr std::string_view kHttps = "https://";
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

bool is_host_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}
bool is_ipv6_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

std::optional<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, port);
  if (error != std::errc{} || stopped != end || port == 0 || digits.starts_with('0')) return std::nullopt;
  return port;
}

// What stands before the port; empty where it is no host.
std::string_view host_of(std::string_view authority, std::size_t& rest_at) {
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return {};
    rest_at = close + 1;
    const std::string_view host = authority.substr(1, close - 1);
    return std::ranges::all_of(host, is_ipv6_char) ? host : std::string_view{};
  }
  rest_at = std::min(authority.find(':'), authority.size());
  const std::string_view host = authority.substr(0, rest_at);
  return std::ranges::all_of(host, is_host_name_char) && !host.starts_with('.') && !host.starts_with('-')
             ? host
             : std::string_view{};
}

}  // namespace

base::Result<Endpoint> parse_endpoint(const std::string& url) {
  const auto bad = [&url](std::string_view why) {
    return base::fail(base::ErrorCode::kInvalid, "receiver URL \"" + base::escape(url) + "\": " + std::string(why));
  };
  Endpoint out;
  std::string_view rest = url;
  if (rest.starts_with(kHttps)) {
    out.tls = true;
    rest.remove_prefix(kHttps.size());
  } else if (rest.starts_with(kHttp)) {
    rest.remove_prefix(kHttp.size());
  } else {
    return bad("must start with https:// or http://");
  }
  std::size_t rest_at = 0;
  const std::string_view host = host_of(rest, rest_at);
  if (host.empty() || host.size() > limits::kHostNameBytesMax) return bad("has no host, or one that can't be");
  out.host = host;
  out.port = out.tls ? kHttpsPort : kHttpPort;
  rest.remove_prefix(rest_at);
  if (rest.empty()) return out;
  if (!rest.starts_with(':')) return bad("has more than scheme, host and port");
  const std::optional<std::uint16_t> port = parse_port(rest.substr(1));
  if (!port) return bad("has more than scheme, host and port, or a port that is none");
  out.port = *port;
  return out;
}

}  // namespace intray::receiver
