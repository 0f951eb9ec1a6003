#include "vault-receiver/credential.h"

#include <algorithm>
#include <fstream>

#include "vault-receiver/bounds.h"

namespace intray::vault_receiver {

base::Result<BearerCheck> BearerCheck::from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::fail(base::ErrorCode::kNotFound, "can't open credential file " + path);
  std::string token(kCredentialBytesMax + 1, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  token.resize(static_cast<std::size_t>(file.gcount()));
  if (token.size() > kCredentialBytesMax) return base::fail(base::ErrorCode::kInvalid, "credential too long");
  if (token.ends_with('\n')) token.pop_back();
  if (token.ends_with('\r')) token.pop_back();
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (token.empty()) return base::fail(base::ErrorCode::kInvalid, "credential file is empty");
  if (!std::ranges::all_of(token, is_visible)) {
    return base::fail(base::ErrorCode::kInvalid, "credential has characters other than visible ASCII");
  }
  return BearerCheck(token);
}

BearerCheck::Verdict BearerCheck::check(const std::string* authorization) const {
  if (authorization == nullptr) return Verdict::kMissing;
  const std::string_view value = *authorization;
  constexpr std::string_view kScheme = "bearer ";
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  if (value.size() <= kScheme.size() || !std::ranges::equal(value.substr(0, kScheme.size()), kScheme, same)) {
    return Verdict::kMissing;
  }
  const base::Sha256 given = base::sha256(value.substr(kScheme.size()));
  int difference = 0;
  for (std::size_t i = 0; i < given.bytes.size(); ++i) difference |= given.bytes[i] ^ expected_.bytes[i];
  return difference == 0 ? Verdict::kGood : Verdict::kWrong;
}

}  // namespace intray::vault_receiver
