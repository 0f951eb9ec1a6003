// Purpose:    Unicode through utf8proc: validity, NFC, case folding, NFKC, general categories. The only door to
// utf8proc. Trust:      input is hostile: bounded work, no allocation beyond a small multiple of the input. Thread use:
// pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace intray::base {

// Valid UTF-8 per RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. NUL is valid here.
bool is_utf8(std::string_view text);
// Code points, nullopt where the text is not valid UTF-8.
std::optional<std::vector<char32_t>> code_points(std::string_view text);
// Two-letter general category of a code point: "Lu", "Cf", … ("Cn" for unassigned).
std::string_view category(char32_t code_point);
// All three: nullopt where the text is not valid UTF-8.
std::optional<std::string> nfc(std::string_view text);
std::optional<std::string> nfkc(std::string_view text);
std::optional<std::string> case_fold(std::string_view text);  // full folding of the NFC, then NFC

}  // namespace intray::base
