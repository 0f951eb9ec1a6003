// Purpose:    reads the two JSON answers of a read: {"content":"…"} and {"error":"…"}.
// Trust:      input is hostile: one pass, no recursion, memory at most the input's size.
// Thread use: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace intray::receiver {

// The decoded value, where `json` is an object with exactly one member, named `name` (plain ASCII, not escaped in the
// input), whose value is a string; white space between the tokens is allowed. nullopt for everything else: other or
// further members, a repeated one, invalid JSON or UTF-8, lone surrogates, trailing bytes.
std::optional<std::string> only_string_member(std::string_view json, std::string_view name);

}  // namespace intray::receiver
