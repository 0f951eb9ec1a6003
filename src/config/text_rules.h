// Purpose:    what the texts in a settings file must look like: paths, names, URLs, branches, patterns.
// Thread use: pure.
#pragma once

#include <string_view>

namespace intray::config {

bool is_absolute_path(
    std::string_view text);  // "/x/y": no empty, "." or ".." part, no control character, under 4096 bytes
bool is_relative_folder(std::string_view text);  // "" or "x/y": the same without a leading or trailing slash
bool is_name(std::string_view text);             // 1 to 64 of [A-Za-z0-9._-], not starting with '.' or '-'
bool is_user_or_none(
    std::string_view text);  // "", a number of at most 10 digits, or 1 to 32 of [a-z0-9_-] starting with a letter or _
bool is_namespace(std::string_view text);         // four names between slashes
bool is_branch(std::string_view text);            // a short branch name that git takes: "main", "feature/x"
bool is_front_matter_key(std::string_view text);  // 1 to 64 of [A-Za-z0-9_-]
bool is_extension(std::string_view text);         // ".md": a dot and 1 to 15 of [A-Za-z0-9]
bool is_pattern(std::string_view text);           // of bounded length; source::ContentRules judges its syntax

// "http(s)://host[:port]" and nothing behind it; host a name, an IPv4 address or an IPv6 address in brackets.
bool is_origin_url(std::string_view text);
bool is_https(std::string_view url);
bool is_address_or_none(std::string_view text);  // IPv4 or IPv6 in numbers, without port and brackets; or ""

}  // namespace intray::config
