#include "base/hash.h"

#include <catch2/catch.hpp>
#include <string>

namespace intray::base {
namespace {

TEST_CASE("hash: SHA-256 gives the digests of FIPS 180-4's examples") {
  CHECK(sha256("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex() ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')).hex() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("hash: two parts hash like their concatenation") {
  const std::string text = "some text with \0 inside and an end";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    CHECK(sha256(text.substr(0, cut), text.substr(cut)) == sha256(text));
}

TEST_CASE("hash: hex is lower case and strict") {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  CHECK(to_hex(std::string("\x00\x7f\xff", 3)) == "007fff");
  CHECK(from_hex(to_hex(all)) == all);
  CHECK(from_hex("") == "");
  for (const char* text : {"0", "000", "0G", "g0", "AB", "aB", "0x", " 0", "0 ", "\xff\xff"}) {
    INFO(text);
    CHECK(!from_hex(text));
  }
}

TEST_CASE("hash: a digest is parsed from exactly 64 lower-case digits, or exactly 32 octets") {
  const Sha256 digest = sha256("abc");
  CHECK(Sha256::parse(digest.hex()) == digest);
  CHECK(Sha256::from_bytes(digest.view()) == digest);
  CHECK(digest.view().size() == 32);
  CHECK(!Sha256::parse(""));
  CHECK(!Sha256::parse(digest.hex().substr(1)));
  CHECK(!Sha256::parse(digest.hex() + "0"));
  CHECK(!Sha256::parse("B" + digest.hex().substr(1)));
  CHECK(!Sha256::from_bytes(std::string(31, 'x')));
  CHECK(!Sha256::from_bytes(std::string(33, 'x')));
  CHECK(Sha256::from_bytes(std::string(32, '\xff'))->hex() == std::string(64, 'f'));
}

}  // namespace
}  // namespace intray::base
