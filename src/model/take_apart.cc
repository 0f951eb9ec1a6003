#include "model/take_apart.h"

#include <nlohmann/json.hpp>

namespace intray::model {

void take_apart(nlohmann::json& value) noexcept {
  if (value.is_array()) {
    auto& elements = value.get_ref<nlohmann::json::array_t&>();
    for (nlohmann::json& element : elements) take_apart(element);
    elements.clear();
  } else if (value.is_object()) {
    auto& members = value.get_ref<nlohmann::json::object_t&>();
    for (auto& [name, member] : members) take_apart(member);
    members.clear();
  }
}

}  // namespace intray::model
