#include "cli/new_files.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace intray;
using namespace intray::cli;
using model::JobKind;

namespace {

class Inbox {
 public:
  Inbox() {
    std::string name = (std::filesystem::temp_directory_path() / "intray-new-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root = name;
    std::filesystem::create_directories(root + "/save/new");
    std::filesystem::create_directories(root + "/save/tmp");
  }
  ~Inbox() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  void drop(const std::string& name) const { std::ofstream(root + "/save/new/" + name) << "x"; }
  std::string root;
};

std::string name_of(int n) {
  std::string digits = std::to_string(1'796'044'522'000'000LL + n);
  return digits + ".0b0e5b1c-1111-4222-8333-" + std::to_string(100'000'000'000LL + n) + ".json";
}

}  // namespace

TEST_CASE("look_at_new: counts all, keeps the oldest, puts what is no job last") {
  const Inbox inbox;
  for (const int n : {5, 3, 9, 1, 7}) inbox.drop(name_of(n));
  inbox.drop("0000.no-job");
  std::ofstream(inbox.root + "/save/tmp/half") << "x";
  const NewFiles some = look_at_new(inbox.root, JobKind::kSave, 3);
  CHECK(some.seen == 6);
  CHECK(some.in_tmp == 1);
  REQUIRE(some.oldest.size() == 3);
  CHECK(some.oldest[0].name == name_of(1));
  CHECK(some.oldest[2].name == name_of(5));
  const NewFiles all = look_at_new(inbox.root, JobKind::kSave, 100);
  REQUIRE(all.oldest.size() == 6);
  CHECK(all.oldest.back().name == "0000.no-job");
  CHECK(describe(all.oldest.back()) == "not the name of a job");
  CHECK(describe(all.oldest.front()).empty());
  CHECK(look_at_new(inbox.root, JobKind::kSave, 0).oldest.empty());
}

TEST_CASE("look_at_new: things that are no files are called by name, and nothing is opened") {
  const Inbox inbox;
  std::filesystem::create_directory(inbox.root + "/save/new/dir");
  std::filesystem::create_symlink("/etc/passwd", inbox.root + "/save/new/" + name_of(1));
  const NewFiles files = look_at_new(inbox.root, JobKind::kSave, 10);
  REQUIRE(files.oldest.size() == 2);
  CHECK(describe(files.oldest[0]) == "a symbolic link, no job");
  CHECK(describe(files.oldest[1]).starts_with("a directory"));
}

TEST_CASE("look_at_new: a directory that can't be read is an error, not an empty list") {
  const Inbox inbox;
  std::filesystem::remove_all(inbox.root + "/save/new");
  const NewFiles files = look_at_new(inbox.root, JobKind::kSave, 10);
  CHECK(files.errors.size() == 1);
}

TEST_CASE("find_new: by the beginning of the job id") {
  const Inbox inbox;
  inbox.drop(name_of(1));
  inbox.drop(name_of(2));
  CHECK(find_new(inbox.root, JobKind::kSave, "0b0e", 10)->size() == 2);
  CHECK(find_new(inbox.root, JobKind::kSave, "0b0e5b1c-1111-4222-8333-100000000002", 10)->size() == 1);
  CHECK(find_new(inbox.root, JobKind::kSave, "ffff", 10)->empty());
  CHECK(find_new(inbox.root, JobKind::kSave, "0b0e", 1)->size() == 1);
}
