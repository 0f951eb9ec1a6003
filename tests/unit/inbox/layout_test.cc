#include "inbox/layout.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <catch2/catch.hpp>

#include "inbox_fixture.h"

using namespace intray;
using base::ErrorCode;
using test::value_of;

namespace {

constexpr auto kSave = model::JobKind::kSave;

std::uint32_t mode_of(const std::string& path) {
  struct stat st {};
  REQUIRE(::lstat(path.c_str(), &st) == 0);
  return st.st_mode & 07777U;
}

bool mentions(const std::vector<std::string>& lines, const std::string& path, const std::string& what) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(path + ":") != line.npos && line.find(what) != line.npos && line.find('\n') == line.npos;
  });
}

}  // namespace

TEST_CASE("layout: the plan has the owners and modes of an installed system") {
  const inbox::Owners owners{.executor_uid = 10, .requester_gid = 20, .admin_gid = 30, .root_uid = 0, .root_gid = 0};
  const auto places = inbox::plan(owners, 2);
  const auto find = [&](const std::string& name) {
    const auto place =
        std::find_if(places.begin(), places.end(), [&](const inbox::Place& p) { return p.name == name; });
    REQUIRE(place != places.end());
    return *place;
  };
  for (const char* const name : {"tmp", "new"}) {
    CHECK(find(name).mode == 03770);
    CHECK(find(name).uid == 10);
    CHECK(find(name).gid == 20);
  }
  for (const char* const name : {"cur", "done", "failed", "rejected", "unknown", "ledger", "lease/0", "lease/1"}) {
    CHECK(find(name).mode == 02750);
    CHECK(find(name).uid == 10);
    CHECK(find(name).gid == 30);
  }
  CHECK(find("receipts").mode == 02750);
  CHECK(find("receipts").gid == 20);
  CHECK(find("lease").mode == 0755);
  CHECK(find("lease").uid == 0);
  CHECK(places.size() == 12);
}

TEST_CASE("layout: what make makes, check finds right, and making it again changes nothing") {
  const test::TempDir temp;
  const auto owners = test::this_user();
  const std::string root = temp / "intray";
  CHECK_FALSE(inbox::check(root, kSave, owners, 2).errors.empty());
  value_of(inbox::make(root, kSave, owners, 2));
  CHECK(inbox::check(root, kSave, owners, 2).errors.empty());
  for (const auto& place : inbox::plan(owners, 2)) CHECK(mode_of(root + "/save/" + place.name) == 0700);
  for (const char* const name : {"0.lock", "0.holder", "1.lock", "1.holder"})
    CHECK(mode_of(root + "/save/lease/" + name) == 0600);
  CHECK(test::names_in(root + "/save/lease") ==
        std::vector<std::string>{"0", "0.holder", "0.lock", "1", "1.holder", "1.lock"});

  test::write_text(root + "/save/lease/0.holder", "somebody");
  test::write_text(root + "/save/cur/x", "kept");
  value_of(inbox::make(root, kSave, owners, 3));
  CHECK(inbox::check(root, kSave, owners, 3).errors.empty());
  CHECK(test::read_text(root + "/save/lease/0.holder") == "somebody");
  CHECK(test::read_text(root + "/save/cur/x") == "kept");
  value_of(inbox::make(root, model::JobKind::kDelete, owners, 1));
  CHECK(inbox::check(root, model::JobKind::kDelete, owners, 1).errors.empty());
  CHECK(inbox::ledger_path(root, kSave) == root + "/save/ledger/ledger.db");
}

TEST_CASE("layout: the modes of an installed system, as far as this user can set them") {
  const test::TempDir temp;
  auto owners = test::this_user();
  owners.user_mode = false;
  const std::string root = temp / "intray";
  value_of(inbox::make(root, kSave, owners, 1));
  CHECK(inbox::check(root, kSave, owners, 1).errors.empty());
  CHECK(mode_of(root) == 0755);
  CHECK(mode_of(root + "/save") == 0755);
  CHECK(mode_of(root + "/save/new") == 03770);
  CHECK(mode_of(root + "/save/cur") == 02750);
  CHECK(mode_of(root + "/save/lease") == 0755);
  CHECK(mode_of(root + "/save/lease/0") == 02750);
  CHECK(mode_of(root + "/save/lease/0.lock") == 0600);
  CHECK(mode_of(root + "/save/lease/0.holder") == 0640);
  REQUIRE(::chmod(root.c_str(), 0700) == 0);
  CHECK(mentions(inbox::check(root, kSave, owners, 1).errors, root, "can't reach"));
}

TEST_CASE("layout: each thing that is wrong gets one clear line, and make doesn't touch it") {
  const test::TempDir temp;
  const auto owners = test::this_user();
  const std::string root = temp.path();
  value_of(inbox::make(root, kSave, owners, 1));
  const std::string base = root + "/save/";
  REQUIRE(::chmod((base + "new").c_str(), 0777) == 0);
  REQUIRE(::rmdir((base + "cur").c_str()) == 0);
  test::write_text(base + "cur", "a file");
  REQUIRE(::rmdir((base + "failed").c_str()) == 0);
  REQUIRE(::symlink("/tmp", (base + "failed").c_str()) == 0);
  REQUIRE(::unlink((base + "lease/0.lock").c_str()) == 0);
  REQUIRE(::rmdir((base + "done").c_str()) == 0);

  const auto errors = inbox::check(root, kSave, owners, 1).errors;
  CHECK(errors.size() == 5);
  CHECK(mentions(errors, base + "new", "0777"));
  CHECK(mentions(errors, base + "cur", "not a directory"));
  CHECK(mentions(errors, base + "failed", "not a directory"));
  CHECK(mentions(errors, base + "lease/0.lock", "missing"));
  CHECK(mentions(errors, base + "done", "missing"));

  const auto made = inbox::make(root, kSave, owners, 1);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == ErrorCode::kDenied);
  CHECK(std::count(made.error().what.begin(), made.error().what.end(), '\n') ==
        2);  // three lines: two were missing only
  CHECK(mode_of(base + "new") == 0777);
  CHECK(test::read_text(base + "cur") == "a file");
}

TEST_CASE("layout: an ACL on any directory of the tree is an error") {
  const test::TempDir temp;
  const auto owners = test::this_user();
  value_of(inbox::make(temp.path(), kSave, owners, 2));
  std::vector<std::string> directories = {temp.path() + "/save"};
  for (const auto& place : inbox::plan(owners, 2)) directories.push_back(temp.path() + "/save/" + place.name);
  for (const std::string& directory : directories) {
    for (const auto& [attribute, said] : {std::pair{"system.posix_acl_default", "has a default ACL"},
                                          std::pair{"system.posix_acl_access", "has an ACL"}}) {
      INFO(directory << " " << attribute);
      const std::string acl = test::acl_for_one_more_user();
      if (::setxattr(directory.c_str(), attribute, acl.data(), acl.size(), 0) != 0) {
        REQUIRE(errno == EOPNOTSUPP);
        WARN("skipped: this filesystem has no ACLs");
        return;
      }
      REQUIRE(::chmod(directory.c_str(), 0700) == 0);
      CHECK(mentions(inbox::check(temp.path(), kSave, owners, 2).errors, directory, said));
      REQUIRE(::removexattr(directory.c_str(), attribute) == 0);
      CHECK(inbox::check(temp.path(), kSave, owners, 2).errors.empty());
    }
  }
}

TEST_CASE("layout: a wrong owner is told with both ids") {
  const test::TempDir temp;
  auto owners = test::this_user();
  value_of(inbox::make(temp.path(), kSave, owners, 1));
  owners.executor_uid += 1;
  owners.requester_gid += 1;
  const auto errors = inbox::check(temp.path(), kSave, owners, 1).errors;
  CHECK(mentions(errors, temp.path() + "/save/new", "must be " + std::to_string(owners.executor_uid)));
  CHECK(mentions(errors, temp.path() + "/save/receipts", "has gid"));
}

TEST_CASE("layout: an interrupted make is finished by the next") {
  for (int at = 1; at < 500; ++at) {
    INFO("call " << at);
    const test::TempDir temp;
    bool untouched = false;
    {
      const test::FailNth fail(at, {.error = EIO}, true);
      const auto made = inbox::make(temp / "intray", kSave, test::this_user(), 1);
      untouched = fail.calls() < at;
      CHECK(made.has_value() == untouched);
    }
    const test::WithoutSyncs fast;
    const auto again = inbox::make(temp / "intray", kSave, test::this_user(), 1);
    if (!again) FAIL(again.error().what);
    if (untouched) return;
  }
  FAIL("the sweep has no end");
}

TEST_CASE("layout: every state has its place") {
  const test::InboxFixture fixture;
  const auto& tree = *fixture.tree;
  CHECK(&tree.place_of(model::State::kSucceeded) == &tree.done);
  CHECK(&tree.place_of(model::State::kFailed) == &tree.failed);
  CHECK(&tree.place_of(model::State::kRejected) == &tree.rejected);
  CHECK(&tree.place_of(model::State::kUnknown) == &tree.unknown);
  CHECK(&tree.place_of(model::State::kReady) == &tree.cur);
  CHECK(&tree.place_of(model::State::kRetryable) == &tree.cur);
  CHECK(tree.file_mode == 0600);
}
