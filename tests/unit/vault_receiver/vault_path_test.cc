#include "vault-receiver/vault_path.h"

#include <catch2/catch.hpp>
#include <string>

namespace intray::vault_receiver {
namespace {

TEST_CASE("vault path: only plain paths below the root are mapped") {
  const auto root = VaultRoot::make("/app/vault");
  REQUIRE(root);
  CHECK(root->relative("/app/vault/a.md") == "a.md");
  CHECK(root->relative("/app/vault/a b/\xC3\xA4/..x/.y/z.") == "a b/\xC3\xA4/..x/.y/z.");
  CHECK(root->relative("/app/vault/a/.vault-receiver-tmp") == "a/.vault-receiver-tmp");
  CHECK(root->absolute("a/b.md") == "/app/vault/a/b.md");
  for (const std::string bad : {"",
                                "/",
                                "a.md",
                                "/app/vault",
                                "/app/vault/",
                                "/app/vaults/a.md",
                                "/app/vault//a.md",
                                "/app/vault/a//b",
                                "/app/vault/a/",
                                "/app/vault/.",
                                "/app/vault/..",
                                "/app/vault/../vault/a.md",
                                "/app/vault/a/./b",
                                "/app/vault/a/../b",
                                "/app/vault/a/..",
                                "/app/../app/vault/a",
                                "//app/vault/a.md",
                                "/APP/vault/a.md",
                                "/app/vault/.vault-receiver-tmp",
                                "/app/vault/.vault-receiver-tmp/1"}) {
    CAPTURE(bad);
    CHECK_FALSE(root->relative(bad));
  }
  CHECK_FALSE(root->relative(std::string("/app/vault/a\0b", 14)));
}

TEST_CASE("vault path: the root itself is checked") {
  for (const char* bad : {"", "vault", "/app/", "/app//vault", "/app/../vault", "/./vault"}) {
    CHECK_FALSE(VaultRoot::make(bad));
  }
  const auto slash = VaultRoot::make("/");
  REQUIRE(slash);
  CHECK(slash->relative("/a/b") == "a/b");
  CHECK_FALSE(slash->relative("/"));
}

}  // namespace
}  // namespace intray::vault_receiver
