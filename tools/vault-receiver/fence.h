// Purpose:    fencing: refuses a late request of a sender that has been taken over meanwhile.
// Trust:      header text is hostile until parsed.
// Thread use: one thread.
// Durability: none: a restarted receiver knows no fences and accepts the first it sees.
//
// Header: Intray-Fence: <16 lower-case hex digits: namespace>.<save|delete>.<ledger epoch>.<fence>, both numbers
// decimal without leading zeros, 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "vault-receiver/kind.h"

namespace intray::vault_receiver {

struct Fence {
  std::string name_space;
  Kind kind = Kind::kSave;
  std::uint64_t ledger_epoch = 0;
  std::uint64_t number = 0;
};

std::optional<Fence> parse_fence(std::string_view text);

// The highest (ledger epoch, fence) seen for each (namespace, kind, path). Kinds and namespaces are never compared.
class FenceTable {
 public:
  // False: a higher one was seen, the request is stale. Otherwise this one is remembered; an equal one is a retry of
  // the same claim and passes.
  bool admit(const Fence& fence, std::string_view path);
  std::size_t size() const { return highest_.size(); }

 private:
  std::unordered_map<std::string, std::pair<std::uint64_t, std::uint64_t>> highest_;
};

}  // namespace intray::vault_receiver
