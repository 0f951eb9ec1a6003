// Purpose:    SHA-256 (FIPS 180-4) and lower-case hex. The hash is OpenSSL's: it uses the processor's SHA instructions,
//             which libsodium does not, and each step of a job hashes its audit row.
// Thread use: pure functions; base::init_crypto() first, once per process.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace intray::base {

// Must run once before any other call into hash.h or random.h; aborts if libsodium can't start.
void init_crypto();

// Lower-case hex of any bytes.
std::string to_hex(std::string_view bytes);
// Strict: even length, lower-case digits only; nullopt otherwise.
std::optional<std::string> from_hex(std::string_view hex);

struct Sha256 {
  std::array<std::uint8_t, 32> bytes{};

  // 64 lower-case hex digits, nothing else.
  static std::optional<Sha256> parse(std::string_view hex);
  // Exactly 32 raw bytes (as stored in the ledger).
  static std::optional<Sha256> from_bytes(std::string_view raw);
  std::string hex() const;
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT(*-reinterpret-cast): octets as chars
  }
  auto operator<=>(const Sha256&) const = default;
};

Sha256 sha256(std::string_view data);
// SHA-256 over the concatenation, without building it.
Sha256 sha256(std::string_view first, std::string_view second);

}  // namespace intray::base
