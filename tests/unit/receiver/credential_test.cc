#include "receiver/credential.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <memory>

#include "client_fixture.h"
#include "limits.h"

namespace intray::test {
namespace {

using base::ErrorCode;
using receiver::Credential;

ErrorCode error_of(const std::string& path, std::uint32_t uid = ::geteuid()) {
  const auto loaded = Credential::load(path, uid);
  REQUIRE_FALSE(loaded);
  return loaded.error().code;
}

TEST_CASE("a credential is read without its newline") {
  const TempDir dir;
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"token", "token"},
      {"token\n", "token"},
      {"a.b-c_d~+/==\n", "a.b-c_d~+/=="},
      {"x", "x"},
      {std::string(limits::kCredentialBytesMax, 'a'), std::string(limits::kCredentialBytesMax, 'a')},
      {std::string(limits::kCredentialBytesMax, 'a') + "\n", std::string(limits::kCredentialBytesMax, 'a')},
  }));
  for (const unsigned mode : {0400U, 0600U}) {
    const std::string path = write_file(dir, "c" + std::to_string(mode), text, mode);
    const auto loaded = Credential::load(path, ::geteuid());
    REQUIRE(loaded);
    CHECK(loaded->reveal() == expected);
  }
}

TEST_CASE("a credential that others might read, or that is none, is refused") {
  const TempDir dir;
  for (const unsigned mode : {0404U, 0640U, 0644U, 0700U, 0500U, 0401U, 04400U, 0410U})
    CHECK(error_of(write_file(dir, "m" + std::to_string(mode), "token\n", mode)) == ErrorCode::kDenied);
  const std::vector<std::string> malformed{"",
                                           "\n",
                                           "\n\n",
                                           "token\n\n",
                                           "to ken",
                                           "token\r\n",
                                           " token",
                                           "tok\ten",
                                           "t\x7f",
                                           "t\xc3\xa4",
                                           std::string("t\0k", 3),
                                           std::string(limits::kCredentialBytesMax + 1, 'a'),
                                           std::string(1'000'000, 'a')};
  for (std::size_t i = 0; i < malformed.size(); ++i)
    CHECK(error_of(write_file(dir, "t" + std::to_string(i), malformed[i], 0400)) == ErrorCode::kInvalid);
}

TEST_CASE("a credential is a regular file of the executor's or root's") {
  const TempDir dir;
  const std::string good = write_file(dir, "good", "token\n", 0400);
  CHECK(error_of(dir.path + "/none") == ErrorCode::kNotFound);
  REQUIRE(::symlink(good.c_str(), (dir.path + "/link").c_str()) == 0);
  CHECK(error_of(dir.path + "/link") == ErrorCode::kInvalid);
  REQUIRE(::mkfifo((dir.path + "/fifo").c_str(), 0600) == 0);
  CHECK(error_of(dir.path + "/fifo") == ErrorCode::kInvalid);
  REQUIRE(::mkdir((dir.path + "/dir").c_str(), 0700) == 0);
  CHECK(error_of(dir.path + "/dir") == ErrorCode::kInvalid);
  if (::geteuid() == 0) {
    REQUIRE(::chown(good.c_str(), 12345, 12345) == 0);
    CHECK(error_of(good, 54321) == ErrorCode::kDenied);
    CHECK(Credential::load(good, 12345));
  } else {
    CHECK(error_of(good, ::geteuid() + 1) == ErrorCode::kDenied);
  }
}

TEST_CASE("a credential that its group may read is root's alone, with root's group: an ACL's mask shows there") {
  const TempDir dir;
  const std::string file = write_file(dir, "by-acl", "token\n", 0440);
  if (::geteuid() != 0) {
    CHECK(error_of(file) == ErrorCode::kDenied);
    return;
  }
  CHECK(Credential::load(file, 12345));
  REQUIRE(::chown(file.c_str(), 0, 12345) == 0);
  CHECK(error_of(file, 12345) == ErrorCode::kDenied);
  REQUIRE(::chown(file.c_str(), 12345, 0) == 0);
  CHECK(error_of(file, 12345) == ErrorCode::kDenied);
}

TEST_CASE("errors do not quote the credential") {
  const TempDir dir;
  for (const std::string text : {"very secret", "very-secret\r\n"}) {
    const auto loaded = Credential::load(write_file(dir, "c" + std::to_string(text.size()), text, 0400), ::geteuid());
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().what.find("very") == std::string::npos);
  }
}

TEST_CASE("the bearer line is the header, and moving a credential keeps it") {
  const TempDir dir;
  auto loaded = Credential::load(write_file(dir, "c", "token\n", 0400), ::geteuid());
  REQUIRE(loaded);
  const Credential moved = std::move(*loaded);
  auto line = receiver::BearerLine::make(moved);
  REQUIRE(line);
  CHECK(std::string(line->c_str()) == "Authorization: Bearer token");
  CHECK(line->size() == 27);
}

TEST_CASE("credential memory is locked and stays out of core files") {
  const TempDir dir;
  const auto loaded = Credential::load(write_file(dir, "c", "token\n", 0400), ::geteuid());
  REQUIRE(loaded);
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  std::string flags;
  while (std::getline(maps, line)) {
    if (line.find('-') != std::string::npos && line.find("VmFlags") == std::string::npos &&
        line.find(':') != std::string::npos) {
      unsigned long low = 0;
      unsigned long high = 0;
      if (std::sscanf(line.c_str(), "%lx-%lx ", &low, &high) == 2) {
        const auto at = reinterpret_cast<unsigned long>(loaded->reveal().data());
        inside = low <= at && at < high;
      }
    }
    if (inside && line.starts_with("VmFlags:")) flags = line + " ";
  }
  if (flags.empty()) {
    WARN("SKIPPED: this kernel tells no VmFlags");
    return;
  }
#ifndef __SANITIZE_ADDRESS__                       // its mlock() does nothing
  CHECK(flags.find(" lo ") != std::string::npos);  // locked
#endif
  CHECK(flags.find(" dd ") != std::string::npos);  // not dumped
  CHECK(flags.find(" wr ") == std::string::npos);  // sealed
}

}  // namespace
}  // namespace intray::test
