// Purpose:    randomness for jitter, from libsodium's CSPRNG.
// Thread use: pure; init_crypto() first.
#pragma once

namespace intray::base {

// Uniform in [0, 1).
double random_unit();

}  // namespace intray::base
