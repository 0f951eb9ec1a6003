// Names in the directories of an inbox: a parser takes exactly what its printer prints.
#include <string>

#include "inbox/names.h"
#include "target.h"

using namespace intray;

namespace {

template <class Name>
void check(std::string_view text) {
  const auto name = Name::parse(text);
  if (!name) return;
  const std::string printed = name->str();
  CHECK(printed == text);
  CHECK(fuzz::is_one_plain_line(text) && text.find('/') == std::string_view::npos && !text.starts_with('.'));
  CHECK(text.size() <= 255);
  const auto again = Name::parse(printed);
  CHECK(again && again->str() == printed);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  check<inbox::JobName>(text);
  check<inbox::LeaseName>(text);
  check<inbox::PlacedName>(text);
  const int readings = int{inbox::JobName::parse(text).has_value()} + int{inbox::LeaseName::parse(text).has_value()} +
                       int{inbox::is_self_test_name(text)};
  CHECK(readings <= 1);
  if (const auto job = inbox::JobName::parse(text)) {
    // The same file under way: taken, and put away.
    const inbox::LeaseName taken{.take = {7}, .deaths = 1, .job = job, .bad_digest = {}};
    const auto lease = inbox::LeaseName::parse(taken.str());
    CHECK(lease && lease->job == job && lease->take == taken.take && lease->deaths == taken.deaths);
    const inbox::PlacedName placed{.job = job, .taken = {}, .take = {}, .copy = 2, .word = "APPLIED"};
    const auto put = inbox::PlacedName::parse(placed.str());
    CHECK(put && put->job == job && put->copy == placed.copy && put->word == placed.word);
  }
  // Whatever was dropped has a name to be set aside under.
  const inbox::LeaseName bad{.take = {1}, .deaths = 0, .job = {}, .bad_digest = inbox::digest_of_name(text)};
  const auto aside = inbox::LeaseName::parse(bad.str());
  CHECK(aside && !aside->job && aside->bad_digest == bad.bad_digest);
  return 0;
}
