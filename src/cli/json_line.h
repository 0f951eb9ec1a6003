// Purpose:    one JSON object per line of output, in ASCII: untrusted text reaches a terminal only as \u escapes.
// Thread use: pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cli/console.h"

namespace intray::cli {

// Prints the object and a newline.
void print_json(Console& console, const nlohmann::json& object);
// RFC 3339 in UTC, or null.
nlohmann::json json_time(const std::optional<base::WallTime>& t);
// Sets object[name] to the text where it is UTF-8; else to null, and object[name + "_hex"] to its octets.
void set_bytes(nlohmann::json& object, const std::string& name, std::string_view bytes);
// A strong id, hash or other value with a text form, or null.
template <class Json, class T, class Print>
Json json_or_null(const std::optional<T>& value, Print print) {
  return value ? Json(print(*value)) : Json(nullptr);
}

}  // namespace intray::cli
