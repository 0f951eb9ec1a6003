// Purpose:    maps the absolute paths of requests, under the virtual vault root, to paths inside the vault's directory.
// Trust:      request paths are hostile. This check is by spelling only; vault_store.h holds the file system to it.
// Thread use: immutable after construction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace intray::vault_receiver {

// Holds half-written notes, at the top of the vault's directory; out of reach for requests and searches.
inline constexpr std::string_view kTmpFolder = ".vault-receiver-tmp";

class VaultRoot {
 public:
  // "/app/vault", or "/" itself. nullopt: not absolute, trailing '/', or an empty, "." or ".." segment.
  static std::optional<VaultRoot> make(std::string_view root);

  // "/app/vault/notes/a.md" is "notes/a.md". nullopt: not below the root, an empty, "." or ".." segment, a NUL, or the
  // folder for half-written notes.
  std::optional<std::string> relative(std::string_view path) const;
  // The reverse.
  std::string absolute(std::string_view relative) const { return prefix_ + std::string(relative); }

 private:
  explicit VaultRoot(std::string prefix) : prefix_(std::move(prefix)) {}
  std::string prefix_;  // ends with '/'
};

}  // namespace intray::vault_receiver
