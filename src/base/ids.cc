#include "base/ids.h"

#include <sodium.h>

#include "base/hash.h"

namespace intray::base {
namespace {

constexpr bool is_hyphen_place(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

}  // namespace

std::optional<UuidBytes> parse_uuid_v4(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string digits;
  digits.reserve(32);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_hyphen_place(i)) {
      if (text[i] != '-') return std::nullopt;
    } else {
      digits.push_back(text[i]);
    }
  }
  const auto raw = from_hex(digits);
  if (!raw) return std::nullopt;
  UuidBytes out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>((*raw)[i]);
  if ((out[6] >> 4U) != 4 || (out[8] >> 6U) != 2) return std::nullopt;  // so the nil UUID can't pass either
  return out;
}

UuidBytes generate_uuid_v4() {
  UuidBytes out{};
  randombytes_buf(out.data(), out.size());
  out[6] = static_cast<std::uint8_t>((out[6] & 0x0fU) | 0x40U);
  out[8] = static_cast<std::uint8_t>((out[8] & 0x3fU) | 0x80U);
  return out;
}

std::string format_uuid(const UuidBytes& bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (const std::uint8_t b : bytes) {
    if (is_hyphen_place(out.size())) out.push_back('-');
    out.push_back(kDigits[b >> 4U]);
    out.push_back(kDigits[b & 15U]);
  }
  return out;
}

}  // namespace intray::base
