#include "vault-receiver/vault_store.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "temp_vault.h"

namespace intray::vault_receiver {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

struct Vault {
  TempVault outer;
  std::string dir = outer.path() + "/vault";
  std::string outside = outer.path() + "/outside";
  VaultStore store = make(false);

  VaultStore make(bool sync) {
    fs::create_directory(dir);
    fs::create_directory(outside);
    std::ofstream(outside + "/secret.md") << "secret";
    return std::move(VaultStore::open(dir, sync)).value();
  }
};

template <class T>
ErrorCode code_of(const base::Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error().code;
}

TEST_CASE("vault store: a note is saved with its folders, replaced, read and removed") {
  Vault vault;
  const std::string bytes("\xEF\xBB\xBF# T\r\n\0\xFF\n", 11);
  REQUIRE(vault.store.save("a/b/c.md", bytes));
  CHECK(vault.store.read("a/b/c.md").value() == bytes);
  CHECK(read_file(vault.dir + "/a/b/c.md") == bytes);
  REQUIRE(vault.store.save("a/b/c.md", ""));
  CHECK(vault.store.read("a/b/c.md").value().empty());
  REQUIRE(vault.store.save("top.md", "x"));
  REQUIRE(vault.store.remove("a/b/c.md"));
  CHECK(code_of(vault.store.remove("a/b/c.md")) == ErrorCode::kNotFound);
  CHECK(code_of(vault.store.read("a/b/c.md")) == ErrorCode::kNotFound);
  CHECK(code_of(vault.store.remove("no/such.md")) == ErrorCode::kNotFound);
  CHECK(fs::is_empty(vault.dir + "/.vault-receiver-tmp"));
}

TEST_CASE("vault store: with sync it does the same") {
  Vault vault;
  VaultStore store = vault.make(true);
  REQUIRE(store.save("a/b/c.md", "x"));
  CHECK(store.read("a/b/c.md").value() == "x");
  REQUIRE(store.remove("a/b/c.md"));
}

TEST_CASE("vault store: no symbolic link is followed") {
  Vault vault;
  fs::create_directory_symlink(vault.outside, vault.dir + "/out");
  fs::create_symlink(vault.outside + "/secret.md", vault.dir + "/leaf.md");
  fs::create_directory(vault.dir + "/in");
  fs::create_directory_symlink("in", vault.dir + "/alias");
  CHECK(code_of(vault.store.read("out/secret.md")) == ErrorCode::kDenied);
  CHECK(code_of(vault.store.read("leaf.md")) == ErrorCode::kDenied);
  CHECK(code_of(vault.store.save("out/new.md", "x")) == ErrorCode::kDenied);
  CHECK(code_of(vault.store.save("out/deep/new.md", "x")) == ErrorCode::kDenied);
  CHECK(code_of(vault.store.save("alias/new.md", "x")) == ErrorCode::kDenied);
  CHECK(code_of(vault.store.remove("out/secret.md")) == ErrorCode::kDenied);
  REQUIRE(vault.store.save("leaf.md", "mine"));
  CHECK(read_file(vault.outside + "/secret.md") == "secret");
  CHECK(vault.store.read("leaf.md").value() == "mine");
  CHECK_FALSE(fs::exists(vault.outside + "/new.md"));
  CHECK_FALSE(fs::exists(vault.outside + "/deep"));
}

TEST_CASE("vault store: what is not a note is not read, replaced or removed") {
  Vault vault;
  REQUIRE(vault.store.save("a/b.md", "x"));
  REQUIRE(::mkfifo((vault.dir + "/fifo").c_str(), 0600) == 0);
  CHECK(code_of(vault.store.read("a")) == ErrorCode::kNotFound);
  CHECK(code_of(vault.store.read("fifo")) == ErrorCode::kNotFound);
  CHECK(code_of(vault.store.read("a/b.md/c")) == ErrorCode::kNotFound);
  CHECK_FALSE(vault.store.save("a", "x"));
  CHECK_FALSE(vault.store.save("a/b.md/c", "x"));
  CHECK_FALSE(vault.store.remove("a"));
  CHECK_FALSE(vault.store.save(std::string(256, 'n'), "x"));
  CHECK(vault.store.read("a/b.md").value() == "x");
  CHECK(fs::is_empty(vault.dir + "/.vault-receiver-tmp"));
}

TEST_CASE("vault store: half-written notes of a killed receiver are removed at start") {
  Vault vault;
  std::ofstream(vault.dir + "/.vault-receiver-tmp/17") << "half";
  REQUIRE(vault.store.save("a.md", "x"));
  VaultStore again = vault.make(false);
  CHECK(fs::is_empty(vault.dir + "/.vault-receiver-tmp"));
  CHECK(again.read("a.md").value() == "x");
}

TEST_CASE("vault store: a missing directory is an error, a symbolic link for the inner folder too") {
  const TempVault dir;
  CHECK_FALSE(VaultStore::open(dir.path() + "/none", false));
  fs::create_directory_symlink("/tmp", dir.path() + "/.vault-receiver-tmp");
  CHECK_FALSE(VaultStore::open(dir.path(), false));
}

TEST_CASE("vault store: search looks at contents and paths, in order, and stays inside") {
  Vault vault;
  REQUIRE(vault.store.save("b/plain.md", "nothing here"));
  REQUIRE(vault.store.save("a.md", "intro\n# The Title\r\nA NEEDLE"));
  REQUIRE(vault.store.save("b/needle.txt", ""));
  REQUIRE(vault.store.save(".hidden/needle.md", "needle"));
  std::ofstream(vault.outside + "/needle.md") << "needle";
  fs::create_directory_symlink(vault.outside, vault.dir + "/out");
  const auto hits = vault.store.search("Needle");
  REQUIRE(hits.size() == 2);
  CHECK(hits[0].relative == "a.md");
  CHECK(hits[0].title == "The Title");
  CHECK(hits[1].relative == "b/needle.txt");
  CHECK(hits[1].title == "needle");
  CHECK(vault.store.search("").empty());
  for (int i = 0; i < 120; ++i) REQUIRE(vault.store.save("many/" + std::to_string(i), "needle"));
  CHECK(vault.store.search("needle").size() == 100);
}

}  // namespace
}  // namespace intray::vault_receiver
