#include "config/text_rules.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "limits.h"

namespace intray::config {
namespace {

constexpr std::size_t kPathBytesMax = 4095;  // PATH_MAX without its NUL
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kUserNameBytesMax = 32;  // useradd
constexpr std::size_t kUserIdDigitsMax = 10;
constexpr std::size_t kHostBytesMax = 253;  // RFC 1035
constexpr std::size_t kExtensionBytesMax = 16;
constexpr std::size_t kBranchBytesMax = 200;
constexpr std::size_t kAddressBytesMax = 46;  // INET6_ADDRSTRLEN

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool all_of(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || also.contains(c); });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7F; });
}

// Calls each part between separators; false as soon as one call is.
template <class F>
bool each_part(std::string_view text, char separator, const F& good) {
  while (true) {
    const std::size_t at = text.find(separator);
    if (!good(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

bool is_path_part(std::string_view part) { return !part.empty() && part != "." && part != ".."; }

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && !text.starts_with('0');
}

}  // namespace

bool is_absolute_path(std::string_view text) {
  if (text == "/") return true;
  return text.size() > 1 && text.size() <= kPathBytesMax && text.front() == '/' && !has_control(text) &&
         each_part(text.substr(1), '/', is_path_part);
}

bool is_relative_folder(std::string_view text) {
  return text.empty() || (text.size() <= kPathBytesMax && !has_control(text) && each_part(text, '/', is_path_part));
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && text.front() != '.' && text.front() != '-' &&
         all_of(text, "._-");
}

bool is_user_or_none(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (std::ranges::all_of(text, is_digit)) return text.size() <= kUserIdDigitsMax;
  return text.size() <= kUserNameBytesMax && (text.front() == '_' || (text.front() >= 'a' && text.front() <= 'z')) &&
         std::ranges::all_of(text,
                             [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '-'; });
}

bool is_namespace(std::string_view text) { return std::ranges::count(text, '/') == 3 && each_part(text, '/', is_name); }

bool is_branch(std::string_view text) {
  // git check-ref-format, without the rarities.
  if (text.empty() || text.size() > kBranchBytesMax || has_control(text) || text.starts_with("refs/")) return false;
  if (text.find_first_of(" ~^:?*[\\") != std::string_view::npos || text.contains("..")) return false;
  if (text.contains("@{") || text == "@" || text.front() == '-' || text.ends_with(".")) return false;
  return each_part(text, '/', [](std::string_view part) {
    return !part.empty() && part.front() != '.' && !part.ends_with(".lock");
  });
}

bool is_front_matter_key(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && all_of(text, "_-");
}

bool is_extension(std::string_view text) {
  return text.size() >= 2 && text.size() <= kExtensionBytesMax && text.front() == '.' && all_of(text.substr(1), "");
}

bool is_pattern(std::string_view text) { return !text.empty() && text.size() <= limits::kSecretPatternBytesMax; }

bool is_https(std::string_view url) { return url.starts_with("https://"); }

bool is_address_or_none(std::string_view text) {
  // What passes here and is none the resolver refuses at start, without asking anybody: it holds no name.
  const bool v6 = text.contains(':');
  return text.size() < kAddressBytesMax &&
         text.find_first_not_of(v6 ? "0123456789abcdefABCDEF:." : "0123456789.") == std::string_view::npos;
}

bool is_origin_url(std::string_view text) {
  if (!is_https(text) && !text.starts_with("http://")) return false;
  text.remove_prefix(text.find("//") + 2);
  std::string_view host = text;
  if (text.starts_with("[")) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    const bool address = host.size() >= 2 &&
                         host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
                         host.contains(':');
    return address && (text.empty() || (text.front() == ':' && is_port(text.substr(1))));
  }
  host = text.substr(0, text.find(':'));
  text.remove_prefix(host.size());
  if (host.empty() || host.size() > kHostBytesMax || host.front() == '-' || host.front() == '.' || !all_of(host, ".-"))
    return false;
  return text.empty() || is_port(text.substr(1));
}

}  // namespace intray::config
