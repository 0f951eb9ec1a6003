// Purpose:    checks the bearer credential of requests.
// Trust:      the file is the operator's; headers are hostile. Only the credential's SHA-256 is kept, and nothing
// prints
//             or logs either.
// Thread use: immutable after construction.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace intray::vault_receiver {

class BearerCheck {
 public:
  enum class Verdict { kGood, kMissing, kWrong };

  // One trailing line end is not part of the credential. Errors: as open(2); kInvalid: empty, too long, or with
  // characters that can't stand in a header.
  static base::Result<BearerCheck> from_file(const std::string& path);
  explicit BearerCheck(std::string_view token) : expected_(base::sha256(token)) {}

  // `authorization`: the header's value, nullptr if there is none. Another scheme than Bearer is kMissing. Takes the
  // same time for every wrong token of one length.
  Verdict check(const std::string* authorization) const;

 private:
  base::Sha256 expected_;
};

}  // namespace intray::vault_receiver
