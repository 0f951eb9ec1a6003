#include "inbox/names.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "base/hash.h"
#include "limits.h"

using namespace intray;
using inbox::JobName;
using inbox::LeaseName;
using inbox::PlacedName;

namespace {

const std::string kJob = "1796044522123456.0b0e7f3a-5c1d-4e2f-8a9b-0c1d2e3f4a5b.json";

// A parser is right where it takes exactly what it prints.
template <class Name>
void check_round_trip(const std::string& text) {
  INFO(text);
  const auto name = Name::parse(text);
  REQUIRE(name);
  CHECK(name->str() == text);
}

template <class Name>
void check_mutants(const std::string& text) {
  std::mt19937 random(4711);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  static constexpr char kAlphabet[] = "0123456789abcdefABF.-:,_jsonbad2/\0\n\xff ";
  const std::string alphabet(kAlphabet, sizeof(kAlphabet) - 1);  // the NUL in the middle too
  for (int i = 0; i < 20'000; ++i) {
    std::string mutant = text;
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      const std::size_t at = below(mutant.size());
      switch (below(3)) {
        case 0: mutant[at] = alphabet[below(alphabet.size())]; break;
        case 1: mutant.erase(at, 1 + below(3)); break;
        default: mutant.insert(at, 1, alphabet[below(alphabet.size())]); break;
      }
      if (mutant.empty()) mutant = "x";
    }
    if (const auto name = Name::parse(mutant)) {
      if (name->str() != mutant) FAIL("taken as something else: " << mutant << " as " << name->str());
    }
  }
}

}  // namespace

TEST_CASE("job name: prints what it parses") {
  check_round_trip<JobName>(kJob);
  check_round_trip<JobName>("0000000000000000.0b0e7f3a-5c1d-4e2f-8a9b-0c1d2e3f4a5b.json");
  check_round_trip<JobName>("9999999999999999.0b0e7f3a-5c1d-4e2f-8a9b-0c1d2e3f4a5b.json");
  CHECK(base::to_us(JobName::parse(kJob)->created) == 1796044522123456);
  for (int i = 0; i < 100; ++i) {
    const JobName name{base::from_us(i * 1'000'000'007LL), base::JobId::generate()};
    CHECK(JobName::parse(name.str()) == name);
  }
  check_mutants<JobName>(kJob);
}

TEST_CASE("job name: a time that doesn't fit is held at the ends") {
  const auto id = base::JobId::generate();
  CHECK(JobName{base::from_us(-5), id}.str().starts_with("0000000000000000."));
  CHECK(JobName{base::from_us(INT64_MAX), id}.str().starts_with("9999999999999999."));
}

TEST_CASE("job name: everything else is refused") {
  const std::string id = "0b0e7f3a-5c1d-4e2f-8a9b-0c1d2e3f4a5b";
  const std::vector<std::string> bad = {
      "",
      ".",
      "..",
      ".json",
      kJob + "x",
      kJob + ".2",
      kJob + ":2,APPLIED",
      " " + kJob,
      kJob + std::string(1, '\0'),
      kJob + "\n",
      kJob.substr(1),
      "-796044522123456." + id + ".json",
      "+796044522123456." + id + ".json",
      " 796044522123456." + id + ".json",
      "179604452212345a." + id + ".json",
      "1796044522123456-" + id + ".json",
      "1796044522123456." + id + ".JSON",
      "1796044522123456." + id + "/json",
      "1796044522123456.0B0E7F3A-5C1D-4E2F-8A9B-0C1D2E3F4A5B.json",
      "1796044522123456.0b0e7f3a-5c1d-1e2f-8a9b-0c1d2e3f4a5b.json",  // version 1
      "1796044522123456.0b0e7f3a-5c1d-4e2f-ca9b-0c1d2e3f4a5b.json",  // variant
      "1796044522123456.00000000-0000-0000-0000-000000000000.json",
      "1796044522123456.0b0e7f3a05c1d04e2f08a9b00c1d2e3f4a5b.json",
      "1796044522123456.------------------------------------.json",
      std::string(255, 'a'),
      "\xff\xfe" + kJob.substr(2),
      "\x1b[31m" + kJob.substr(5),
      "1796044522123456.0b0e7f3a-5c1d-4e2f-8a9b-0c1d2e3f4a5\xc3.json",
  };
  for (const std::string& name : bad) {
    INFO(name);
    CHECK_FALSE(JobName::parse(name));
  }
}

TEST_CASE("lease name: prints what it parses, and nothing else") {
  check_round_trip<LeaseName>("7000000001.0." + kJob);
  check_round_trip<LeaseName>("0.99." + kJob);
  check_round_trip<LeaseName>("9223372036854775807.2.0123456789abcdef.bad");
  check_mutants<LeaseName>("7000000001.0." + kJob);
  check_mutants<LeaseName>("7000000001.1.0123456789abcdef.bad");
  for (const std::string& bad : std::vector<std::string>{kJob,
                                                         "." + kJob,
                                                         "7.." + kJob,
                                                         "7." + kJob,
                                                         "07.0." + kJob,
                                                         "7.00." + kJob,
                                                         "7.100." + kJob,
                                                         "-7.0." + kJob,
                                                         "+7.0." + kJob,
                                                         "9223372036854775808.0." + kJob,
                                                         "7.0.0123456789abcdeF.bad",
                                                         "7.0.0123456789abcde.bad",
                                                         "7.0.0123456789abcdef0.bad",
                                                         "7.0.0123456789abcdef.bad.2",
                                                         "7.0.0123456789abcdef.",
                                                         "7.0.",
                                                         "7.0",
                                                         "7",
                                                         "",
                                                         "7.0." + kJob + ".2",
                                                         "7.0." + kJob + ":2,X"}) {
    INFO(bad);
    CHECK_FALSE(LeaseName::parse(bad));
  }
}

TEST_CASE("placed name: prints what it parses, and nothing else") {
  for (const std::string& name :
       std::vector<std::string>{kJob, kJob + ".2", kJob + ".1000000", kJob + ":2,APPLIED", kJob + ".17:2,NOT_CANONICAL",
                                "1796044522123456.7000000001.bad:2,BAD_FILE_TYPE",
                                "1796044522123456.7000000001.bad.3:2,OVERSIZED", "1796044522123456.7.bad"})
    check_round_trip<PlacedName>(name);
  const auto placed = PlacedName::parse(kJob + ".17:2,NOT_CANONICAL");
  REQUIRE(placed);
  CHECK(placed->job == JobName::parse(kJob));
  CHECK(placed->copy == 17);
  CHECK(placed->word == "NOT_CANONICAL");
  check_mutants<PlacedName>(kJob + ".17:2,NOT_CANONICAL");
  check_mutants<PlacedName>("1796044522123456.7000000001.bad.3:2,OVERSIZED");
  for (const std::string& bad : std::vector<std::string>{kJob + ".",
                                                         kJob + ".0",
                                                         kJob + ".1",
                                                         kJob + ".02",
                                                         kJob + ".-2",
                                                         kJob + ".1000001",
                                                         kJob + ".2.3",
                                                         kJob + ":2,",
                                                         kJob + ":2,lower",
                                                         kJob + ":2,A:2,B",
                                                         kJob + ":1,A",
                                                         kJob + ":2",
                                                         kJob + ":2,A B",
                                                         kJob + ":2,A\n",
                                                         kJob + ":2," + std::string(65, 'A'),
                                                         "1796044522123456.07.bad",
                                                         "1796044522123456.bad",
                                                         "796044522123456.7.bad",
                                                         "1796044522123456.7.bad.1",
                                                         "1796044522123456.7.badly",
                                                         "1796044522123456..bad",
                                                         ":2,A",
                                                         ""}) {
    INFO(bad);
    CHECK_FALSE(PlacedName::parse(bad));
  }
}

TEST_CASE("digest of a name: 16 digits of SHA-256") {
  CHECK(inbox::digest_of_name("abc") == "ba7816bf8f01cfea");
  CHECK(inbox::digest_of_name(std::string("\0\xff", 2)).size() == 16);
}

TEST_CASE("self-test: its names and no others") {
  CHECK(inbox::is_self_test_name(inbox::self_test_name(intray::base::Slot{0})));
  CHECK(inbox::is_self_test_name(inbox::self_test_name(intray::base::Slot{63})));
  CHECK(inbox::is_self_test_name(inbox::self_test_name_of_process(4'194'304)));
  for (const char* const other :
       {".self-test.", ".self-test.x", ".self-test.0x", ".self-test.pid-", ".self-test.pid-1 ",
        ".self-test.01234567890", ".self-test.-1", "self-test.0", ".self-test"}) {
    INFO(other);
    CHECK_FALSE(inbox::is_self_test_name(other));
  }
}
