#include "vault-receiver/vault_path.h"

namespace intray::vault_receiver {
namespace {

bool segments_are_plain(std::string_view path) {
  while (true) {
    const auto end = path.find('/');
    const std::string_view segment = path.substr(0, end);
    if (segment.empty() || segment == "." || segment == "..") return false;
    if (end == std::string_view::npos) return true;
    path.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<VaultRoot> VaultRoot::make(std::string_view root) {
  if (root == "/") return VaultRoot("/");
  if (!root.starts_with('/') || root.contains('\0')) return std::nullopt;
  if (!segments_are_plain(root.substr(1))) return std::nullopt;
  return VaultRoot(std::string(root) + '/');
}

std::optional<std::string> VaultRoot::relative(std::string_view path) const {
  if (!path.starts_with(prefix_) || path.contains('\0')) return std::nullopt;
  path.remove_prefix(prefix_.size());
  if (!segments_are_plain(path)) return std::nullopt;
  if (path.substr(0, path.find('/')) == kTmpFolder) return std::nullopt;
  return std::string(path);
}

}  // namespace intray::vault_receiver
