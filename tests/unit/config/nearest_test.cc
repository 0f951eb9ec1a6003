#include "config/nearest.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace intray::config;

TEST_CASE("edit_distance: insert, delete, replace and swap count one each") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "abc") == 0);
  CHECK(edit_distance("abc", "abd") == 1);
  CHECK(edit_distance("abc", "acb") == 1);
  CHECK(edit_distance("abc", "ab") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("nearest: typing errors, letter case, and the right name in the wrong table") {
  constexpr std::array<std::string_view, 4> kKnown = {"receiver.url", "receiver.connect_timeout", "git.mirror",
                                                      "slots"};
  CHECK(nearest("reciever.url", kKnown) == "receiver.url");
  CHECK(nearest("Git.Miror", kKnown) == "git.mirror");
  CHECK(nearest("connect_timeout", kKnown) == "receiver.connect_timeout");
  CHECK(nearest("slot", kKnown) == "slots");
  CHECK(nearest("http.connect_timeot", kKnown) == "receiver.connect_timeout");
  CHECK_FALSE(nearest("completely-different", kKnown));
  CHECK_FALSE(nearest("", kKnown));
  CHECK_FALSE(nearest(std::string(100'000, 'x'), kKnown));
}
