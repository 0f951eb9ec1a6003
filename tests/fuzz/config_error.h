// Purpose:    what the message about a wrong configuration file must look like.
// Thread use: pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/utf8.h"
#include "target.h"

namespace intray::fuzz {

inline constexpr const char* kFileName = "file.toml";

// One problem a line, each with its file, nothing in it that a terminal would act on.
inline void check_config_error(const base::Error& error) {
  CHECK(error.code == base::ErrorCode::kInvalid && !error.what.empty() && base::is_utf8(error.what));
  std::string_view rest = error.what;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    CHECK(line.starts_with("file.toml:") && is_one_plain_line(line));
  }
}

}  // namespace intray::fuzz
