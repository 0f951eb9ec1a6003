#include "receiver/credential_memory.h"

#include <sodium.h>

#include "base/hash.h"

namespace intray::receiver {

base::Result<LockedBytes> LockedBytes::allocate(std::size_t bytes) {
  base::init_crypto();
  auto* const memory = static_cast<char*>(sodium_malloc(bytes));
  if (memory == nullptr) return base::fail(base::ErrorCode::kDenied, "no locked memory for a credential");
  LockedBytes out(memory, bytes);
  // sodium_malloc is content with memory that it could not lock; a credential is not.
  if (sodium_mlock(memory, bytes) != 0)
    return base::fail(base::ErrorCode::kDenied, "memory for a credential can't be locked (RLIMIT_MEMLOCK)");
  sodium_memzero(memory, bytes);
  return out;
}

void LockedBytes::seal() { static_cast<void>(sodium_mprotect_readonly(memory_.get())); }

void LockedBytes::Free::operator()(char* memory) const { sodium_free(memory); }

}  // namespace intray::receiver
