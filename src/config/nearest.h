// Purpose:    the known word that somebody who typed another one most likely meant.
// Thread use: pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace intray::config {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other, by octets.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word with the least distance, letter case aside; nullopt where even that is more than a third of the word's
// length (two at least) away. Of dotted names the last part alone counts too, so that a key in the wrong table is
// found.
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace intray::config
