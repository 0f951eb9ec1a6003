// Purpose:    the bearer credential: read once, held in locked, guarded memory, shown to nobody.
// Trust:      the most precious bytes of the process. They occur in the Authorization header of requests to the one
// receiver
//             and nowhere else: no log, ledger, receipt, core file, environment or command line.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "receiver/credential_memory.h"

namespace intray::receiver {

class Credential {
 public:
  // A regular file, not a symlink, owned by `owner_uid` (or root), mode 0400 or 0600 without group or other rights, 1
  // to 8192 octets of visible ASCII without blanks, one trailing newline allowed. Anything else: kDenied or kInvalid,
  // and the executor does not start (CREDENTIAL_MISSING, exit 77). The file is closed before this returns; the bytes
  // pass through no other buffer than the locked one. kNotFound: there is no such file.
  static base::Result<Credential> load(const std::string& path, std::uint32_t owner_uid);
  Credential(Credential&&) noexcept;
  Credential& operator=(Credential&&) noexcept;
  ~Credential();  // zeroes

  std::string_view reveal() const;  // grep for this word: every use is one of the few places that may see it

 private:
  struct Locked;
  explicit Credential(std::unique_ptr<Locked> locked);
  std::unique_ptr<Locked> locked_;
};

// The one header line that shows the credential, "Authorization: Bearer <credential>", in memory of the same kind.
class BearerLine {
 public:
  static base::Result<BearerLine> make(const Credential& credential);
  // NUL-terminated, no line end. Lives as long as this object.
  const char* c_str() const { return memory_.data(); }
  std::size_t size() const { return size_; }
  // For libcurl, whose header list has pointers to char; it never writes through them.
  char* header_data() { return memory_.data(); }

 private:
  BearerLine(LockedBytes memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}
  LockedBytes memory_;
  std::size_t size_;
};

}  // namespace intray::receiver
