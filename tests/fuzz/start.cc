#include "base/hash.h"
#include "target.h"

int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  intray::base::init_crypto();
  return 0;
}
