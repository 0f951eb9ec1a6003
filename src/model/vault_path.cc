#include "model/vault_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.h"
#include "base/utf8.h"
#include "limits.h"

namespace intray::model {
namespace {

using Broken = std::optional<std::string>;  // the rule that failed

// Names that a receiver or a disk may turn into a separator or a dot: look-alikes, and what NFKC maps to them.
constexpr std::u32string_view kLookalikes = U"\u2044\u2215\u29F8\uFF0F\u29F5\uFF3C\uFE68\u2024\uFF0E\uFE52";
constexpr std::u32string_view kForbidden = U"\\:*?\"<>|`";

bool is_hex_digit(char32_t c) {
  return (c >= U'0' && c <= U'9') || (c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F');
}

bool is_allowed_category(char32_t c) {
  const char first = base::category(c).front();
  return c == U' ' || first == 'L' || first == 'M' || first == 'N' || first == 'P' || first == 'S';
}

Broken broken_character_rule(std::u32string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char32_t c = path[i];
    const auto named = [&](std::string_view rule) {
      return fmt::format("{} U+{:04X} at character {}", rule, static_cast<std::uint32_t>(c), i);
    };
    if (!is_allowed_category(c))
      return fmt::format("{} (category {}) is not allowed", named("character"), base::category(c));
    if (kForbidden.contains(c)) return named("forbidden character");
    if (kLookalikes.contains(c)) return named("look-alike of a slash, backslash or dot");
    if (c == U'%' && i + 2 < path.size() && is_hex_digit(path[i + 1]) && is_hex_digit(path[i + 2]))
      return named("'%' before two hex digits,");
  }
  return std::nullopt;
}

Broken broken_segment_rule(std::string_view segment, std::size_t number) {
  const auto says = [&](std::string_view rule) { return fmt::format("segment {} {}", number, rule); };
  if (segment.empty()) return says("is empty");
  if (segment.size() > limits::kPathSegmentBytesMax)
    return says(fmt::format("has {} bytes, more than {}", segment.size(), limits::kPathSegmentBytesMax));
  if (segment == "." || segment == "..") return says(fmt::format("is '{}'", segment));
  if (segment.front() == '.' || segment.front() == '-') return says(fmt::format("starts with '{}'", segment.front()));
  if (segment.back() == '.' || segment.back() == ' ') return says("ends in a dot or blank");
  return std::nullopt;
}

Broken broken_compatibility_rule(std::string_view segment, std::size_t number) {
  const auto folded = base::nfkc(segment);
  if (!folded) return fmt::format("segment {} has no compatibility form", number);
  if (*folded == "." || *folded == "..")
    return fmt::format("the compatibility form (NFKC) of segment {} is '{}'", number, *folded);
  if (folded->find_first_of("/\\") != std::string::npos)
    return fmt::format("the compatibility form (NFKC) of segment {} holds a slash or backslash", number);
  return std::nullopt;
}

// Calls rule(segment, number) for each segment, from 1, until one is broken.
template <class Rule>
Broken first_broken(std::string_view below, Rule rule) {
  for (std::size_t number = 1;; ++number) {
    const std::size_t slash = below.find('/');
    if (Broken broken = rule(below.substr(0, slash), number)) return broken;
    if (slash == std::string_view::npos) return std::nullopt;
    below.remove_prefix(slash + 1);
  }
}

bool starts_below(std::string_view path, std::string_view root) {
  return path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/';
}

}  // namespace

std::optional<std::string> unsafe_path_rule(std::string_view vault_path, std::string_view vault_root,
                                            std::span<const std::string> extensions) {
  if (vault_path.size() > limits::kVaultPathBytesMax)
    return fmt::format("the path has {} bytes, more than {}", vault_path.size(), limits::kVaultPathBytesMax);
  const auto points = base::code_points(vault_path);
  if (!points) return "the path is not valid UTF-8";
  if (!starts_below(vault_path, vault_root))
    return fmt::format("the path does not begin with '{}/'", base::escape(vault_root));
  const std::string_view below = below_root(vault_path, vault_root);
  if (below.empty()) return "the path names nothing below the vault root";
  if (Broken broken = first_broken(below, broken_segment_rule)) return broken;
  if (Broken broken = broken_character_rule(std::u32string_view(points->data(), points->size()))) return broken;
  if (base::nfc(vault_path) != vault_path) return "the path is not in Unicode normal form C (NFC)";
  if (Broken broken = first_broken(below, broken_compatibility_rule)) return broken;
  if (std::ranges::none_of(extensions, [&](const std::string& e) { return vault_path.ends_with(e); }))
    return "the path does not end in an allowed extension";
  return std::nullopt;
}

std::string collision_key(std::string_view path) {
  // A path that is not UTF-8 can come from a git tree only; nothing but itself collides with it.
  return base::case_fold(path).value_or(std::string(path));
}

std::string_view below_root(std::string_view vault_path, std::string_view vault_root) {
  return vault_path.substr(vault_root.size() + 1);
}

}  // namespace intray::model
