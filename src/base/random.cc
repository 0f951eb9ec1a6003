#include "base/random.h"

#include <sodium.h>

namespace intray::base {

double random_unit() { return static_cast<double>(randombytes_random()) / 4294967296.0; }

}  // namespace intray::base
