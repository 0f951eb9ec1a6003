#include <catch2/catch.hpp>

#include "inbox_fixture.h"
#include "sys/inotify.h"

using namespace intray;
using test::InboxFixture;
using test::value_of;

// The worker's wake-up, as the executor wires it: moved-in names are noted, an overflow or a lost watch is a scan.
TEST_CASE("events and intake: what was moved in is taken without a scan; a plain create is no hand-off") {
  using sys::fault::Op;
  const InboxFixture fixture;
  auto inotify = value_of(sys::Inotify::create());
  value_of(inotify.watch(fixture.tree->fresh, true, true, false));
  auto intake = fixture.intake();
  std::set<std::string> dropped;
  for (int i = 0; i < 100; ++i) {
    const std::string name = test::job_name(i).str();
    fixture.drop(name, "x");
    dropped.insert(name);
  }
  test::write_text(fixture.path("new/" + test::job_name(-1).str()), "half a");
  std::vector<std::string> names;
  for (auto& record : value_of(inotify.read()))
    if (record.event == sys::WatchEvent::kMovedIn) names.push_back(std::move(record.name));
  CHECK(std::set<std::string>(names.begin(), names.end()) == dropped);
  intake.note(std::move(names));
  int lists = 0;
  sys::fault::set_hook([&](Op op) -> sys::fault::Verdict {
    lists += op == Op::kList ? 1 : 0;
    return {};
  });
  std::size_t taken = 0;
  while (intake.pending()) taken += intake.take(64, base::from_us(test::kSomeTime_us)).value().files.size();
  sys::fault::set_hook({});
  CHECK(taken == 100);
  CHECK(lists == 0);
  CHECK(fixture.names("new").size() == 1);
}
