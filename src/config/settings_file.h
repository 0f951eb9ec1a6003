// Purpose:    the bytes of a settings file, where nobody but its owner can have written them.
// Thread use: one thread.
#pragma once

#include <string>

#include "base/result.h"

namespace intray::config {

// A regular file of bounded size. kNotFound; kDenied: not readable, or writable by its group or by everybody; kInvalid:
// not a regular file, or too large. Every error names the file.
base::Result<std::string> read_settings_file(const std::string& path);

}  // namespace intray::config
