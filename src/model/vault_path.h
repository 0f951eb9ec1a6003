// Purpose:    the path rules: which vault_path may ever reach the receiver.
// Trust:      input is hostile; the receiver's own checks are not leaned on.
// Thread use: pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace intray::model {

// nullopt where the path is safe; else the rule that failed, in words ("segment 2 is '..'"), quoting escaped text only.
std::optional<std::string> unsafe_path_rule(std::string_view vault_path, std::string_view vault_root,
                                            std::span<const std::string> extensions);

// The key under which two paths collide on a case-insensitive disk: full case folding, NFC.
std::string collision_key(std::string_view path);

// The part below the vault root, without a leading slash. Requires a path that passed unsafe_path_rule.
std::string_view below_root(std::string_view vault_path, std::string_view vault_root);

}  // namespace intray::model
