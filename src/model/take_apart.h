// Purpose:    lets go of a JSON value without asking for memory.
// Thread use: pure.
//
// The library's destructor of an array or object that holds something allocates, and ends the program where that fails.
// Ours may be another's program (the client library), which must get an error instead.
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>

namespace intray::model {

// Empties a value that parse_strict or parse_canonical made: its depth is bounded (limits::kJsonDepthMax), and so is
// the recursion.
void take_apart(nlohmann::json& value) noexcept;

// Does so when it goes out of scope, before the value does: stands right behind it.
class TakenApart {
 public:
  explicit TakenApart(nlohmann::json& value) : value_(&value) {}
  template <class Error>
  explicit TakenApart(std::expected<nlohmann::json, Error>& result) : value_(result ? &*result : nullptr) {}
  TakenApart(const TakenApart&) = delete;
  TakenApart& operator=(const TakenApart&) = delete;
  ~TakenApart() {
    if (value_ != nullptr) take_apart(*value_);
  }

 private:
  nlohmann::json* value_;
};

}  // namespace intray::model
