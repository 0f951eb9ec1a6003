#include "config/settings_file.h"

#include <filesystem>

#include "limits.h"
#include "sys/dir.h"

namespace intray::config {

base::Result<std::string> read_settings_file(const std::string& path) {
  using std::filesystem::perms;
  std::string bytes = INTRAY_TRY(sys::read_file(path, limits::kConfigFileBytesMax));
  // Who can write this file decides what the executor does; a slip of chmod must not widen that circle unnoticed.
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!error && (status.permissions() & (perms::group_write | perms::others_write)) != perms::none)
    return base::fail(base::ErrorCode::kDenied, path + ": writable by others than its owner; chmod go-w " + path);
  return bytes;
}

}  // namespace intray::config
