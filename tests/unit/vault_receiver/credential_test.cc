#include "vault-receiver/credential.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "temp_vault.h"

namespace intray::vault_receiver {
namespace {

using Verdict = BearerCheck::Verdict;

Verdict check(const BearerCheck& bearer, const std::string& header) { return bearer.check(&header); }

TEST_CASE("credential: only the very token passes") {
  const BearerCheck bearer("abc.123");
  CHECK(bearer.check(nullptr) == Verdict::kMissing);
  CHECK(check(bearer, "") == Verdict::kMissing);
  CHECK(check(bearer, "Bearer") == Verdict::kMissing);
  CHECK(check(bearer, "Bearer ") == Verdict::kMissing);
  CHECK(check(bearer, "Basic abc.123") == Verdict::kMissing);
  CHECK(check(bearer, "abc.123") == Verdict::kMissing);
  CHECK(check(bearer, "Bearer abc.12") == Verdict::kWrong);
  CHECK(check(bearer, "Bearer abc.1234") == Verdict::kWrong);
  CHECK(check(bearer, "Bearer ABC.123") == Verdict::kWrong);
  CHECK(check(bearer, "Bearer  abc.123") == Verdict::kWrong);
  CHECK(check(bearer, "Bearer abc.123") == Verdict::kGood);
  CHECK(check(bearer, "bearer abc.123") == Verdict::kGood);
}

TEST_CASE("credential: a file gives its content without one line end, or an error") {
  const TempVault dir;
  const std::string file = dir.path() + "/token";
  const auto from = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    return BearerCheck::from_file(file);
  };
  CHECK(check(from("abc").value(), "Bearer abc") == Verdict::kGood);
  CHECK(check(from("abc\n").value(), "Bearer abc") == Verdict::kGood);
  CHECK(check(from("abc\r\n").value(), "Bearer abc") == Verdict::kGood);
  CHECK_FALSE(from(""));
  CHECK_FALSE(from("\n"));
  CHECK_FALSE(from("abc\n\n"));
  CHECK_FALSE(from("a b"));
  CHECK_FALSE(from(std::string(4097, 'a')));
  CHECK_FALSE(BearerCheck::from_file(dir.path() + "/none"));
}

}  // namespace
}  // namespace intray::vault_receiver
