#include "vault-receiver/fence.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace intray::vault_receiver {
namespace {

const std::string kSpace = "0123456789abcdef";

Fence fence(const std::string& text) {
  const auto parsed = parse_fence(text);
  REQUIRE(parsed);
  return *parsed;
}

TEST_CASE("fence: the header has one form") {
  const Fence parsed = fence(kSpace + ".delete.7.18446744073709551615");
  CHECK(parsed.name_space == kSpace);
  CHECK(parsed.kind == Kind::kDelete);
  CHECK(parsed.ledger_epoch == 7);
  CHECK(parsed.number == UINT64_MAX);
  CHECK(fence(kSpace + ".save.0.1").kind == Kind::kSave);
  const std::vector<std::string> bad_ones = {"",
                                             ".",
                                             "...",
                                             kSpace,
                                             kSpace + ".save.1",
                                             kSpace + ".save.1.1.1",
                                             kSpace + ".save.1.",
                                             kSpace + ".save..1",
                                             kSpace + ".save.01.1",
                                             kSpace + ".save.1.+1",
                                             kSpace + ".save.-1.1",
                                             kSpace + ".save.1.18446744073709551616",
                                             kSpace + ".save.1.1 ",
                                             kSpace + ".save.1.0x1",
                                             kSpace + ".content.1.1",
                                             kSpace + ".SAVE.1.1",
                                             "0123456789ABCDEF.save.1.1",
                                             "0123456789abcde.save.1.1",
                                             kSpace + "0.save.1.1",
                                             "0123456789abcdeg.save.1.1"};
  for (const std::string& bad : bad_ones) {
    CAPTURE(bad);
    CHECK_FALSE(parse_fence(bad));
  }
}

TEST_CASE("fence: a lower one is stale, an equal one is a retry, the ledger epoch counts first") {
  FenceTable table;
  CHECK(table.admit(fence(kSpace + ".save.2.10"), "/a"));
  CHECK(table.admit(fence(kSpace + ".save.2.10"), "/a"));
  CHECK_FALSE(table.admit(fence(kSpace + ".save.2.9"), "/a"));
  CHECK_FALSE(table.admit(fence(kSpace + ".save.1.99"), "/a"));
  CHECK(table.admit(fence(kSpace + ".save.3.1"), "/a"));
  CHECK_FALSE(table.admit(fence(kSpace + ".save.2.11"), "/a"));
  CHECK(table.size() == 1);
}

TEST_CASE("fence: paths, kinds and namespaces are never compared") {
  FenceTable table;
  CHECK(table.admit(fence(kSpace + ".save.5.5"), "/a"));
  CHECK(table.admit(fence(kSpace + ".save.1.1"), "/b"));
  CHECK(table.admit(fence(kSpace + ".delete.1.1"), "/a"));
  CHECK(table.admit(fence("f123456789abcdef.save.1.1"), "/a"));
  CHECK_FALSE(table.admit(fence(kSpace + ".save.1.1"), "/a"));
}

}  // namespace
}  // namespace intray::vault_receiver
