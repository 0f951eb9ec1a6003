// Purpose:    the four calls of the vault API, by name.
// Thread use: pure functions.
#pragma once

#include <string_view>

namespace intray::vault_receiver {

enum class Kind { kSave, kDelete, kContent, kSearch };

constexpr std::string_view to_word(Kind kind) {
  switch (kind) {
    case Kind::kSave: return "save";
    case Kind::kDelete: return "delete";
    case Kind::kContent: return "content";
    case Kind::kSearch: return "search";
  }
  return "?";
}

}  // namespace intray::vault_receiver
