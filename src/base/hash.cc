#include "base/hash.h"

// OpenSSL 3 calls these functions deprecated in favour of EVP, which allocates and looks its algorithm up for each
// hash; for rows of some hundred bytes that costs as much as the hash. They are its 1.1 interface, and use the same
// code.
#define OPENSSL_API_COMPAT 10101
#include <openssl/sha.h>
#include <sodium.h>

#include <algorithm>
#include <cstdlib>

namespace intray::base {
namespace {

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

void init_crypto() {
  if (sodium_init() < 0) std::abort();
}

std::string to_hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    out.push_back(kDigits[b >> 4U]);
    out.push_back(kDigits[b & 15U]);
  }
  return out;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = nibble(hex[i]);
    const int low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

std::optional<Sha256> Sha256::parse(std::string_view hex) {
  if (hex.size() != 64) return std::nullopt;
  const auto raw = from_hex(hex);
  return raw ? from_bytes(*raw) : std::nullopt;
}

std::optional<Sha256> Sha256::from_bytes(std::string_view raw) {
  Sha256 out;
  if (raw.size() != out.bytes.size()) return std::nullopt;
  std::ranges::transform(raw, out.bytes.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return out;
}

std::string Sha256::hex() const { return to_hex(view()); }

// Not SHA256(): that one goes through EVP all the same.
Sha256 sha256(std::string_view data) { return sha256(data, {}); }

Sha256 sha256(std::string_view first, std::string_view second) {
  SHA256_CTX state;
  Sha256 out;
  const bool done = SHA256_Init(&state) == 1 && SHA256_Update(&state, first.data(), first.size()) == 1 &&
                    SHA256_Update(&state, second.data(), second.size()) == 1 &&
                    SHA256_Final(out.bytes.data(), &state) == 1;
  if (!done) std::abort();  // it has no way to fail
  return out;
}

}  // namespace intray::base
