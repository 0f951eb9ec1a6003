#include "cli/text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace intray::cli {
namespace {

constexpr std::string_view kEllipsis = "…";

// Blocks that terminals show two columns wide (UAX #11, W and F, by block).
constexpr auto kWide = std::to_array<std::pair<char32_t, char32_t>>({
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x26C4, 0x26C5},   {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274C, 0x274C},
    {0x2753, 0x2755},   {0x2795, 0x2797},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2E80, 0x303E},
    {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F004, 0x1F004}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F265}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7EB}, {0x1F900, 0x1FAFF},
    {0x20000, 0x3FFFD},
});

int width_of(char32_t c) {
  if (c < 0x300) return 1;
  const std::string_view category = base::category(c);
  if (category == "Mn" || category == "Me") return 0;
  return std::ranges::any_of(kWide, [c](const auto& block) { return c >= block.first && c <= block.second; }) ? 2 : 1;
}

// Lengths in octets of the characters of valid UTF-8.
std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

template <class Convert>
std::string convert(std::string_view text, Convert one) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), one);
  return out;
}

}  // namespace

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string count(std::int64_t number, std::string_view singular) {
  return with_commas(number) + " " + std::string(singular) + (number == 1 ? "" : "s");
}

std::string age(base::Micros since) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(since).count();
  if (seconds == 0) return "now";
  if (seconds < 0) return "-" + age(-since);
  if (seconds < 120) return std::to_string(seconds) + "s";
  if (seconds < 7'200) return std::to_string(seconds / 60) + "m";
  if (seconds < 172'800) return std::to_string(seconds / 3'600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

std::string ago(base::Micros since) {
  std::string length = age(since < base::Micros{0} ? -since : since);
  if (length == "now") return length;
  return since < base::Micros{0} ? "in " + length : length + " ago";
}

int width(std::string_view text) {
  const auto points = base::code_points(text);
  if (!points) return static_cast<int>(text.size());
  int out = 0;
  for (const char32_t c : *points) out += width_of(c);
  return out;
}

std::string cut_end(std::string_view text, int columns) {
  if (width(text) <= columns) return std::string(text);
  std::string out;
  int used = 1;  // the ellipsis
  for (const std::string_view character : characters(text)) {
    used += width(character);
    if (used > columns) break;
    out += character;
  }
  return out + std::string(kEllipsis);
}

std::string cut_start(std::string_view text, int columns) {
  if (width(text) <= columns) return std::string(text);
  std::size_t kept = 0;
  int used = 1;
  const std::vector<std::string_view> all = characters(text);
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    used += width(*it);
    if (used > columns) break;
    kept += it->size();
  }
  return std::string(kEllipsis) + std::string(text.substr(text.size() - kept));
}

std::string lower(std::string_view text) {
  return convert(text, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}
std::string upper(std::string_view text) {
  return convert(text, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
}

}  // namespace intray::cli
