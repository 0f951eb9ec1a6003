// Purpose:    strong types for every identity and counter, so that no two of them can be mixed up.
// Thread use: values; generate() draws from libsodium's CSPRNG (init_crypto() first).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace intray::base {

// 16 octets of a UUID. What is generated and what parse_v4 takes is RFC 4122 version 4, variant 10xx.
using UuidBytes = std::array<std::uint8_t, 16>;

// 36 lower-case characters with hyphens at 8, 13, 18, 23; version nibble 4, variant 8, 9, a or b; not the nil UUID.
std::optional<UuidBytes> parse_uuid_v4(std::string_view text);
UuidBytes generate_uuid_v4();
std::string format_uuid(const UuidBytes& bytes);

template <class Tag>
struct Uuid {
  UuidBytes bytes{};

  static std::optional<Uuid> parse(std::string_view text) {
    const auto parsed = parse_uuid_v4(text);
    return parsed ? std::optional<Uuid>(Uuid{*parsed}) : std::nullopt;
  }
  // Exactly 16 raw octets, as stored in the ledger.
  static std::optional<Uuid> from_bytes(std::string_view raw) {
    Uuid out;
    if (raw.size() != out.bytes.size()) return std::nullopt;
    for (std::size_t i = 0; i < raw.size(); ++i) out.bytes[i] = static_cast<std::uint8_t>(raw[i]);
    return out;
  }
  static Uuid generate() { return Uuid{generate_uuid_v4()}; }
  std::string str() const { return format_uuid(bytes); }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT(*-reinterpret-cast): octets as chars
  }
  auto operator<=>(const Uuid&) const = default;
};

using JobId = Uuid<struct JobIdTag>;
using MissionId = Uuid<struct MissionIdTag>;
using IdempotencyKey = Uuid<struct IdempotencyKeyTag>;
using DeleteRequestId = Uuid<struct DeleteRequestIdTag>;
using ApprovalId = Uuid<struct ApprovalIdTag>;
using WorkerId = Uuid<struct WorkerIdTag>;    // one process; also its connector_id in an identity lease
using ClaimId = Uuid<struct ClaimIdTag>;      // one claim of one job
using AttemptId = Uuid<struct AttemptIdTag>;  // one authorized request; X-Request-Id
using LeaseId = Uuid<struct LeaseIdTag>;      // one holding of an identity lease
using LedgerId = Uuid<struct LedgerIdTag>;    // one ledger, for ever

// A counter of its own kind. Never negative.
template <class Tag>
struct Number {
  std::int64_t value = 0;
  auto operator<=>(const Number&) const = default;
};

using JobSeq = Number<struct JobSeqTag>;          // admission order within a ledger; from 1
using AuditSeq = Number<struct AuditSeqTag>;      // row of the audit chain; from 1
using Epoch = Number<struct EpochTag>;            // identity lease's; drawn from one counter per kind, never repeats
using Fence = Number<struct FenceTag>;            // job claim's fencing token; drawn from a counter of its own
using TakeNumber = Number<struct TakeNumberTag>;  // one rename out of new/; never repeats within an inbox
using Slot = Number<struct SlotTag>;              // 0 to slots-1

// Take numbers of one lease are epoch * kTakesPerEpoch + n, so that they never repeat without being stored.
inline constexpr std::int64_t kTakesPerEpoch = 1'000'000'000;

}  // namespace intray::base

template <class Tag>
struct std::hash<intray::base::Uuid<Tag>> {
  std::size_t operator()(const intray::base::Uuid<Tag>& id) const noexcept {
    return std::hash<std::string_view>{}(id.view());
  }
};
template <class Tag>
struct std::hash<intray::base::Number<Tag>> {
  std::size_t operator()(const intray::base::Number<Tag>& n) const noexcept {
    return std::hash<std::int64_t>{}(n.value);
  }
};
