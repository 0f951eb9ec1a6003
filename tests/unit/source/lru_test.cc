#include "source/lru.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

namespace {

using Map = intray::source::Lru<int, std::string, std::hash<int>, std::equal_to<int>>;

TEST_CASE("lru: the entry that was not asked for longest goes first") {
  Map map(2);
  map.insert(1, "one");
  map.insert(2, "two");
  REQUIRE(map.find(1) != nullptr);
  map.insert(3, "three");
  CHECK(map.find(2) == nullptr);
  REQUIRE(map.find(1) != nullptr);
  CHECK(*map.find(1) == "one");
  CHECK(*map.find(3) == "three");
}

TEST_CASE("lru: cost is bounded, and the newest entry stays even if it alone is over the bound") {
  Map map(100, 10);
  map.insert(1, "one", 6);
  map.insert(2, "two", 6);
  CHECK(map.find(1) == nullptr);
  CHECK(map.find(2) != nullptr);
  map.insert(3, "three", 1000);
  CHECK(map.find(2) == nullptr);
  CHECK(map.find(3) != nullptr);
  map.insert(4, "four", 1);
  CHECK(map.find(3) == nullptr);
  CHECK(map.find(4) != nullptr);
}

TEST_CASE("lru: a key inserted again has its new value and its new cost only") {
  Map map(100, 10);
  map.insert(1, "one", 9);
  map.insert(1, "uno", 1);
  map.insert(2, "two", 9);
  REQUIRE(map.find(1) != nullptr);
  CHECK(*map.find(1) == "uno");
  map.clear();
  CHECK(map.find(1) == nullptr);
}

}  // namespace
