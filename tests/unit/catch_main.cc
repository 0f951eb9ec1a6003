#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "base/hash.h"

int main(int argc, char** argv) {
  intray::base::init_crypto();
  return Catch::Session().run(argc, argv);
}
