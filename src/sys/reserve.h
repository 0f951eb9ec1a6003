// Purpose:    a file that only holds room on the disk, to be given up when there is no other.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "sys/dir.h"
#include "sys/fd.h"

namespace intray::sys {

// Makes `name` with blocks for at least `bytes` (posix_fallocate), durably, its mode exactly `mode`. A file that is
// large enough stays as it is. kNoSpace: there is no room, and no file of that name is left behind.
// Returns the file, open for writing.
base::Result<Fd> preallocate(const Dir& dir, const std::string& name, std::int64_t bytes, std::uint32_t mode);
// Gives the room back, by the open file alone: a confined process reaches no path. The file stays open. False: there
// was none left, or the kernel refused.
bool give_up(const Fd& file);

}  // namespace intray::sys
