// Purpose:    reads a small secret from a file straight into the caller's memory, and only where nobody else can read
// it. Trust:      the path is the admin's; the file is not believed to be what it should be. Thread use: stateless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace intray::sys {

// A regular file (not a symlink), owned by `owner_uid` or root, mode 0400 or 0600 exactly. Returns how many bytes were
// put into `buffer`; a file that fills it is too large. Not one byte is kept elsewhere; the file is closed before this
// returns. kNotFound; kDenied: owner, mode, or we may not read it; kInvalid: another kind of file, or too large. After
// an error the buffer may hold a part of the secret.
base::Result<std::size_t> read_secret_file(const std::string& path, std::uint32_t owner_uid, std::span<char> buffer);

}  // namespace intray::sys
