#include "sys/inotify.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "temp_dir.h"

using namespace intray;
using sys::WatchEvent;
using test::value_of;

namespace {

std::vector<std::string> names_of(const std::vector<sys::WatchRecord>& records, WatchEvent event) {
  std::vector<std::string> names;
  for (const auto& record : records)
    if (record.event == event) names.push_back(record.name);
  return names;
}

}  // namespace

TEST_CASE("inotify: every event of a read is told, and the kinds are told apart") {
  const test::TempDir temp;
  std::filesystem::create_directory(temp / "tmp");
  std::filesystem::create_directory(temp / "new");
  auto inotify = value_of(sys::Inotify::create());
  const auto dir = value_of(sys::Dir::open(temp / "new"));
  const int watch = value_of(inotify.watch(dir, true, true, true));
  CHECK(value_of(inotify.read()).empty());
  for (const char* const name : {"a", "b", "c"}) {
    test::write_text(temp / "tmp/" + name, name);
    std::filesystem::rename(temp / "tmp/" + name, temp / "new/" + name);
  }
  test::write_text(temp / "new/plain", "");
  REQUIRE(::chmod((temp / "new/a").c_str(), 0600) == 0);
  REQUIRE(::chmod((temp / "new").c_str(), 0711) == 0);  // the directory's own attributes are no file's
  const auto records = value_of(inotify.read());
  CHECK(names_of(records, WatchEvent::kMovedIn) == std::vector<std::string>{"a", "b", "c"});
  CHECK(names_of(records, WatchEvent::kCreated) == std::vector<std::string>{"plain"});
  CHECK(names_of(records, WatchEvent::kTouched) == std::vector<std::string>{"a"});
  for (const auto& record : records) CHECK(record.watch == watch);
}

TEST_CASE("inotify: the open directory is watched, wherever its name goes, and its loss is told") {
  const test::TempDir temp;
  std::filesystem::create_directory(temp / "new");
  auto inotify = value_of(sys::Inotify::create());
  const auto dir = value_of(sys::Dir::open(temp / "new"));
  std::filesystem::rename(temp / "new", temp / "moved");
  value_of(inotify.watch(dir, true, false, false));
  test::write_text(temp / "x", "");
  std::filesystem::rename(temp / "x", temp / "moved/x");
  CHECK(names_of(value_of(inotify.read()), WatchEvent::kMovedIn) == std::vector<std::string>{"x"});
  std::filesystem::rename(temp / "moved", temp / "again");
  CHECK(names_of(value_of(inotify.read()), WatchEvent::kLost).size() == 1);
}

TEST_CASE("inotify: lost events are told as an overflow") {
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int max_events = 0;
  if (!(limit >> max_events) || max_events > 100'000) {
    WARN("skipped: the kernel's queue is unknown or too long to fill");
    return;
  }
  const test::TempDir temp;
  auto inotify = value_of(sys::Inotify::create());
  value_of(inotify.watch(value_of(sys::Dir::open(temp.path())), true, true, false));
  // Two names in turn, so that the kernel can't merge equal events.
  test::write_text(temp / "a", "");
  for (int i = 0; i < max_events / 2 + 10; ++i) {
    REQUIRE(::rename((temp / "a").c_str(), (temp / "b").c_str()) == 0);
    REQUIRE(::rename((temp / "b").c_str(), (temp / "a").c_str()) == 0);
  }
  bool overflow = false;
  while (true) {
    const auto records = value_of(inotify.read());
    if (records.empty()) break;
    for (const auto& record : records)
      if (record.event == WatchEvent::kOverflow) {
        overflow = true;
        CHECK(record.watch == -1);
      }
  }
  CHECK(overflow);
}
