// Purpose:    RFC 8785 (JCS) canonical JSON, and a strict parser that accepts nothing else than what a job may hold.
// Trust:      input is hostile: no recursion on input, depth at most limits::kJsonDepthMax, memory linear in the input.
// Thread use: pure.
//
// Accepted: objects, arrays, strings, true, false, null and plain integers within ±(2^53-1). Refused as MALFORMED_JSON:
// what a strict RFC 8259 parser refuses, invalid UTF-8, a BOM, lone surrogates, NUL in a string, trailing bytes, too
// deep. Refused as NOT_CANONICAL: duplicate members at any depth, `1.0`, `1e0`, `-0`, integers out of range, and any
// bytes that differ from the canonical form (the first differing offset is named).
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "model/reason.h"

namespace intray::model {

struct CanonicalError {
  Reason reason;  // kMalformedJson or kNotCanonical
  std::string detail;
};

// Parses bytes that must already be canonical.
std::expected<nlohmann::json, CanonicalError> parse_canonical(std::string_view bytes);
// Parses any strict JSON under the same value rules (for tools that canonicalize for their users): duplicate members
// and numbers outside the contract are still refused, white space and member order are not.
std::expected<nlohmann::json, CanonicalError> parse_strict(std::string_view bytes);
// Canonical bytes of a value made of the accepted kinds. Members sort by UTF-16 code units.
std::string to_canonical(const nlohmann::json& value);
// Appends the canonical JSON string (quotes included) of valid UTF-8 text.
void append_canonical_string(std::string& out, std::string_view text);

}  // namespace intray::model
