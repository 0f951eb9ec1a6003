#include "vault-receiver/fence.h"

#include <algorithm>
#include <charconv>

namespace intray::vault_receiver {
namespace {

constexpr std::size_t kNamespaceDigits = 16;

bool parse_number(std::string_view text, std::uint64_t& out) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end;
}

std::string_view take_until_dot(std::string_view& text) {
  const auto dot = text.find('.');
  const std::string_view part = text.substr(0, dot);
  text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
  return part;
}

}  // namespace

std::optional<Fence> parse_fence(std::string_view text) {
  if (std::ranges::count(text, '.') != 3) return std::nullopt;
  Fence fence;
  fence.name_space = take_until_dot(text);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (fence.name_space.size() != kNamespaceDigits || !std::ranges::all_of(fence.name_space, is_hex)) {
    return std::nullopt;
  }
  const std::string_view kind = take_until_dot(text);
  if (kind == to_word(Kind::kDelete)) {
    fence.kind = Kind::kDelete;
  } else if (kind != to_word(Kind::kSave)) {
    return std::nullopt;
  }
  if (!parse_number(take_until_dot(text), fence.ledger_epoch) || !parse_number(text, fence.number)) {
    return std::nullopt;
  }
  return fence;
}

bool FenceTable::admit(const Fence& fence, std::string_view path) {
  std::string key = fence.name_space;
  key.append(to_word(fence.kind)).append(path);  // the path's leading '/' ends the word
  const auto seen = std::pair(fence.ledger_epoch, fence.number);
  const auto [at, is_new] = highest_.try_emplace(std::move(key), seen);
  if (is_new) return true;
  if (seen < at->second) return false;
  at->second = seen;
  return true;
}

}  // namespace intray::vault_receiver
