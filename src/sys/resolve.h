// Purpose:    a host name to one numeric address, before lock-down; and where this program lies.
// Thread use: one thread. Name resolution may open files and sockets and make threads: never after lock-down.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace intray::sys {

// "127.0.0.1:8080" or "[::1]:8080": the first address of the host. kUnavailable: it does not resolve now.
base::Result<std::string> resolve_numeric(const std::string& host, std::uint16_t port);

std::string own_program();  // /proc/self/exe; "" where that can't be read
// Folder of /proc/self/exe; "." where that can't be read.
std::string own_program_dir();

// ftruncate to nothing, and back to offset 0. For files that are rewritten in place.
base::Result<void> truncate_file(int fd);

}  // namespace intray::sys
