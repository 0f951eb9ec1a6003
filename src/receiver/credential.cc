#include "receiver/credential.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "limits.h"
#include "sys/secret_file.h"

namespace intray::receiver {
namespace {

constexpr std::string_view kLineStart = "Authorization: Bearer ";

bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

}  // namespace

struct Credential::Locked {
  LockedBytes memory;
  std::size_t size;
};

Credential::Credential(std::unique_ptr<Locked> locked) : locked_(std::move(locked)) {}
Credential::Credential(Credential&&) noexcept = default;
Credential& Credential::operator=(Credential&&) noexcept = default;
Credential::~Credential() = default;

base::Result<Credential> Credential::load(const std::string& path, std::uint32_t owner_uid) {
  // Room for the newline, and for one byte more, which says that there is too much.
  LockedBytes memory = INTRAY_TRY(LockedBytes::allocate(limits::kCredentialBytesMax + 2));
  std::size_t size = INTRAY_TRY(sys::read_secret_file(path, owner_uid, {memory.data(), memory.size()}));
  if (size > 0 && memory.data()[size - 1] == '\n') --size;
  if (size == 0) return base::fail(base::ErrorCode::kInvalid, path + ": empty");
  if (size > limits::kCredentialBytesMax) {
    return base::fail(base::ErrorCode::kInvalid,
                      path + ": more than " + std::to_string(limits::kCredentialBytesMax) + " bytes");
  }
  if (!std::ranges::all_of(memory.first(size), is_visible))
    return base::fail(base::ErrorCode::kInvalid, path + ": has characters other than visible ASCII");
  memory.seal();
  return Credential(std::make_unique<Locked>(Locked{std::move(memory), size}));
}

std::string_view Credential::reveal() const { return locked_->memory.first(locked_->size); }

base::Result<BearerLine> BearerLine::make(const Credential& credential) {
  const std::string_view secret = credential.reveal();
  const std::size_t size = kLineStart.size() + secret.size();
  LockedBytes memory = INTRAY_TRY(LockedBytes::allocate(size + 1));
  std::memcpy(memory.data(), kLineStart.data(), kLineStart.size());
  std::memcpy(memory.data() + kLineStart.size(), secret.data(), secret.size());
  memory.data()[size] = '\0';
  memory.seal();
  return BearerLine(std::move(memory), size);
}

}  // namespace intray::receiver
