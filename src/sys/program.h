// Purpose:    what a program on disk can call: the functions it imports, and text it holds.
// Trust:      files are the admin's; a damaged one is an error, never a crash.
// Thread use: pure readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace intray::sys {

// Names of the functions and objects that a dynamically linked 64-bit ELF program takes from libraries. kInvalid: it is
// none, or damaged.
base::Result<std::vector<std::string>> imported_symbols(std::string_view program);

}  // namespace intray::sys
