// Purpose:    whether a descriptor is a terminal, and how wide.
// Thread use: any.
#pragma once

#include <optional>

namespace intray::sys {

bool is_terminal(int fd);
// Columns; nullopt where it is no terminal or does not say.
std::optional<int> terminal_columns(int fd);

}  // namespace intray::sys
