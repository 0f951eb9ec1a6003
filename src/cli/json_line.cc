#include "cli/json_line.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/hash.h"
#include "base/utf8.h"

namespace intray::cli {

void print_json(Console& console, const nlohmann::json& object) { console.out << object.dump(-1, ' ', true) << '\n'; }

nlohmann::json json_time(const std::optional<base::WallTime>& t) {
  return t ? nlohmann::json(base::format_rfc3339(*t)) : nlohmann::json(nullptr);
}

void set_bytes(nlohmann::json& object, const std::string& name, std::string_view bytes) {
  if (base::is_utf8(bytes)) {
    object[name] = bytes;
  } else {
    object[name] = nullptr;
    object[name + "_hex"] = base::to_hex(bytes);
  }
}

}  // namespace intray::cli
