#include "config/text_rules.h"

#include <catch2/catch.hpp>
#include <string>

using namespace intray::config;

TEST_CASE("is_origin_url: scheme, host, port, nothing else") {
  for (const char* url : {"https://vault.example.org", "https://vault.example.org:8443", "http://127.0.0.1:9000",
                          "https://[::1]:443", "https://[fe80::1]", "http://localhost"})
    CHECK(is_origin_url(url));
  for (const char* url : {"",
                          "vault.example.org",
                          "HTTPS://x",
                          "ftp://x",
                          "https://",
                          "https://x/",
                          "https://x/path",
                          "https://x?q",
                          "https://x#f",
                          "https://user@x",
                          "https://user:pw@x",
                          "https://x:0",
                          "https://x:0443",
                          "https://.x",
                          "https://x:65536",
                          "https://x:",
                          "https://x:80a",
                          "https://x y",
                          "https://[::1",
                          "https://[]",
                          "https://[abc]",
                          "https://-x",
                          "https://x\n",
                          "file:///etc/passwd",
                          "https://ü"})
    CHECK_FALSE(is_origin_url(url));
  CHECK(is_https("https://x"));
  CHECK_FALSE(is_https("http://x"));
}

TEST_CASE("is_absolute_path: no way around, no control characters") {
  for (const char* path : {"/", "/etc/intray/save.toml", "/a b/ü", "/..a/b.."}) CHECK(is_absolute_path(path));
  for (const char* path : {"", "etc", "./x", "/x/", "//x", "/x//y", "/x/../y", "/x/.", "/..", "/x\ny", "/x\x7f"})
    CHECK_FALSE(is_absolute_path(path));
  CHECK_FALSE(is_absolute_path("/" + std::string(5'000, 'x')));
}

TEST_CASE("is_relative_folder: the repository's root, or a folder in it") {
  for (const char* path : {"", "notes", "notes/daily"}) CHECK(is_relative_folder(path));
  for (const char* path : {"/notes", "notes/", "a//b", "..", "a/../b", "."}) CHECK_FALSE(is_relative_folder(path));
}

TEST_CASE("is_namespace: exactly four names") {
  CHECK(is_namespace("vault/acme/production/1"));
  for (const char* text : {"", "a/b/c", "a/b/c/d/e", "a//c/d", "a/b/c/", "/a/b/c", "a/b/c/d d", "a/b/c/.d"})
    CHECK_FALSE(is_namespace(text));
}

TEST_CASE("is_branch: what git takes as a short branch name") {
  for (const char* name : {"main", "feature/x", "release-1.2", "ünïcode"}) CHECK(is_branch(name));
  for (const char* name : {"",       "refs/heads/main",
                           "a..b",   "a b",
                           "-x",     "a/",
                           "/a",     "a//b",
                           ".a",     "a/.b",
                           "a.lock", "a^",
                           "a:b",    "a*",
                           "a[",     "a\\b",
                           "@",      "a@{1}",
                           "a.",     "a\x01"})
    CHECK_FALSE(is_branch(name));
}

TEST_CASE("is_extension, is_name, is_front_matter_key, is_pattern") {
  CHECK(is_extension(".md"));
  for (const char* text : {"", ".", "md", ".m d", ".tar.gz", ".0123456789abcdef"}) CHECK_FALSE(is_extension(text));
  CHECK(is_name("acme-1.x_y"));
  for (const char* text : {"", ".x", "-x", "a b", "a/b", "ü"}) CHECK_FALSE(is_name(text));
  for (const char* text : {"", "0", "4294967294", "intray-mirror", "_x", "git"}) CHECK(is_user_or_none(text));
  for (const char* text : {"12345678901", "1x", "Git", "-x", "a b", "a.b", "root:root"})
    CHECK_FALSE(is_user_or_none(text));
  CHECK(is_front_matter_key("note_id"));
  CHECK_FALSE(is_front_matter_key("note id"));
  CHECK(is_pattern("AKIA[0-9A-Z]{16}"));
  CHECK_FALSE(is_pattern(""));
  CHECK_FALSE(is_pattern(std::string(2'000, 'a')));
}
