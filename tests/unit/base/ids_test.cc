#include "base/ids.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <unordered_set>

namespace intray::base {
namespace {

TEST_CASE("ids: a lower-case UUID of version 4 comes back as written") {
  for (const char* text : {"0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d", "00000000-0000-4000-8000-000000000000",
                           "ffffffff-ffff-4fff-bfff-ffffffffffff", "12345678-9abc-4def-a123-456789abcdef"}) {
    const auto id = JobId::parse(text);
    REQUIRE(id);
    CHECK(id->str() == text);
    CHECK(JobId::from_bytes(id->view()) == id);
  }
}

TEST_CASE("ids: nothing else is one") {
  for (const std::string text : {"", "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6", "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d0",
                                 "0B0E5A1C-7D3F-4A2B-9C8D-1E2F3A4B5C6D", "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6g",
                                 "00000000-0000-0000-0000-000000000000", "0b0e5a1c-7d3f-1a2b-9c8d-1e2f3a4b5c6d",
                                 "0b0e5a1c-7d3f-7a2b-9c8d-1e2f3a4b5c6d", "0b0e5a1c-7d3f-4a2b-7c8d-1e2f3a4b5c6d",
                                 "0b0e5a1c-7d3f-4a2b-cc8d-1e2f3a4b5c6d", "0b0e5a1c7d3f4a2b9c8d1e2f3a4b5c6d",
                                 "0b0e5a1c07d3f04a2b09c8d01e2f3a4b5c6d", "0b0e5a1c-7d3f-4a2b-9c8d01e2f3a4b5c6d",
                                 "0b0e5a1-c7d3f-4a2b-9c8d-1e2f3a4b5c6d", "{b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6}",
                                 "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6 ", "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c-d"}) {
    INFO(text);
    CHECK(!parse_uuid_v4(text));
  }
  CHECK(!JobId::from_bytes("short"));
  CHECK(!JobId::from_bytes(std::string(17, 'x')));
}

TEST_CASE("ids: generated ones are version 4 and differ") {
  std::set<JobId> seen;
  for (int i = 0; i < 2000; ++i) {
    const JobId id = JobId::generate();
    CHECK(JobId::parse(id.str()) == id);
    CHECK(seen.insert(id).second);
  }
}

TEST_CASE("ids: equal ids hash alike, numbers compare by value") {
  const JobId id = JobId::generate();
  const std::unordered_set<JobId> set = {id, *JobId::parse(id.str()), JobId::generate()};
  CHECK(set.size() == 2);
  CHECK(Epoch{3} < Epoch{4});
  CHECK(Epoch{3} == Epoch{3});
  CHECK(std::hash<Epoch>{}(Epoch{3}) == std::hash<Epoch>{}(Epoch{3}));
}

}  // namespace
}  // namespace intray::base
