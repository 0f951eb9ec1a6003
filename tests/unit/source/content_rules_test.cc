#include <catch2/catch.hpp>
#include <ctime>

#include "limits.h"
#include "source/source.h"

using namespace intray;
using intray::model::Reason;
using intray::source::ContentRules;

namespace {

ContentRules compile(const std::vector<std::string>& patterns) {
  auto out = ContentRules::compile(patterns);
  if (!out) FAIL(out.error().what);
  return std::move(*out);
}

std::optional<Reason> verdict(const ContentRules& rules, const std::string& content,
                              const std::string& credential = "") {
  const auto out = rules.check(content, credential);
  return out ? std::optional(out->reason) : std::nullopt;
}

TEST_CASE("content rules: text passes, what is no text does not") {
  const ContentRules rules = compile({});
  CHECK(verdict(rules, "") == std::nullopt);
  CHECK(verdict(rules, "Über Straßen – „Zitat“ 😀\r\n\tTab\n") == std::nullopt);
  CHECK(verdict(rules, std::string("a\0b", 3)) == Reason::kContentNotText);
  CHECK(verdict(rules, "\xFF") == Reason::kContentNotText);
  CHECK(verdict(rules, "\xC0\xAF") == Reason::kContentNotText);          // overlong
  CHECK(verdict(rules, "\xED\xA0\x80") == Reason::kContentNotText);      // a surrogate
  CHECK(verdict(rules, "\xF4\x90\x80\x80") == Reason::kContentNotText);  // above U+10FFFF
  CHECK(verdict(rules, "cut \xC3") == Reason::kContentNotText);
  CHECK(verdict(rules, "cut \xC3\n\xA4") == Reason::kContentNotText);
  CHECK(rules
            .check("one\ntwo\nthr\xFF"
                   "ee\n",
                   "")
            ->detail == "line 3 is not valid UTF-8");
  CHECK(rules.check(std::string("one\ntwo\0", 8), "")->detail == "a NUL stands in line 2");
}

TEST_CASE("content rules: private-key blocks of every kind are secrets") {
  const ContentRules rules = compile({});
  for (const std::string line :
       {"-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "> quoted: -----BEGIN EC PRIVATE KEY----- and more"}) {
    INFO(line);
    const auto out = rules.check("# Title\r\n\r\n" + line + "\r\nMIIEow\r\n", "");
    REQUIRE(out);
    CHECK(out->reason == Reason::kSecretDetected);
    CHECK(out->detail == "line 3 begins a private-key block");
  }
  CHECK(verdict(rules, "-----BEGIN PUBLIC KEY-----\n-----BEGIN CERTIFICATE-----\n") == std::nullopt);
  CHECK(verdict(rules, "We talk about the PRIVATE KEY here.\n") == std::nullopt);
}

TEST_CASE("content rules: configured patterns are searched line by line, whatever ends the line") {
  const ContentRules rules = compile({"(?i)password\\s*[:=]\\s*\\S+", "^AKIA[0-9A-Z]{4}$"});
  CHECK(verdict(rules, "PassWord = hunter2") == Reason::kSecretDetected);
  CHECK(verdict(rules, "password =\nhunter2") == std::nullopt);
  CHECK(verdict(rules, "x\nAKIA12AB\ny") == Reason::kSecretDetected);
  CHECK(verdict(rules, "x\r\nAKIA12AB\r\ny") == Reason::kSecretDetected);
  CHECK(verdict(rules, "x\rAKIA12AB\ry") == Reason::kSecretDetected);
  CHECK(verdict(rules, "x AKIA12AB") == std::nullopt);
  const auto out = rules.check("a\nb\nAKIA12AB\n", "");
  REQUIRE(out);
  CHECK(out->detail == "line 3 matches secret pattern 2 of the configuration");
}

TEST_CASE("content rules: the executor's own credential is a secret, and is not quoted") {
  const ContentRules rules = compile({});
  const auto out = rules.check("one\ntwo s3cr3t-token three\n", "s3cr3t-token");
  REQUIRE(out);
  CHECK(out->reason == Reason::kSecretDetected);
  CHECK(out->detail == "line 2 holds this executor's own credential");
  CHECK(verdict(rules, "two s3cr3t-toke three", "s3cr3t-token") == std::nullopt);
  CHECK(verdict(rules, "anything", "") == std::nullopt);
}

TEST_CASE("content rules: patterns that can't serve are named") {
  const auto bad = [](const std::vector<std::string>& patterns) {
    const auto out = ContentRules::compile(patterns);
    REQUIRE_FALSE(out);
    CHECK(out.error().code == base::ErrorCode::kInvalid);
    return out.error().what;
  };
  CHECK(bad({"fine", "(open"}).find("'(open'") != std::string::npos);
  CHECK(bad({"a(?=b)"}).find("(?=") != std::string::npos);
  CHECK(bad({"(a)\\1"}).find("\\1") != std::string::npos);
  CHECK(bad({"x*"}).find("every note") != std::string::npos);
  CHECK(bad({"^$"}).find("every note") != std::string::npos);
  CHECK(bad({""}).find("every note") != std::string::npos);
  CHECK(bad({std::string(limits::kSecretPatternBytesMax + 1, 'x')}).find("bytes") != std::string::npos);
  bad({"((a{1000}){1000}){1000}"});
  bad(std::vector<std::string>(limits::kSecretPatternsMax + 1, "x"));
}

TEST_CASE("content rules: no pattern and no note makes a search slow") {
  const ContentRules rules = compile({"(a+)+$", "(a|aa)+b", "(.*a){12}x", "(x+x+)+y"});
  const std::clock_t begin = std::clock();  // processor time: a busy machine does not count
  CHECK(verdict(rules, std::string(1'000'000, 'b')) == std::nullopt);
  CHECK(verdict(rules, std::string(1'000'000, 'a') + "!") == std::nullopt);
  CHECK(verdict(rules, std::string(1'000'000, 'x')) == std::nullopt);
  CHECK(verdict(rules, std::string(1'000'000, '\n')) == std::nullopt);
  CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 20);  // a backtracking search: for ever
}

TEST_CASE("content rules: many patterns together outgrow one automaton and are searched all the same") {
  std::vector<std::string> patterns;
  for (int i = 0; i < 200; ++i)
    patterns.push_back("[ab]{1,60}" + std::to_string(i) + "[a-z]{1,60}secret" + std::to_string(i));
  const auto rules = ContentRules::compile(patterns);
  if (!rules) {
    CHECK(rules.error().what.find("memory") != std::string::npos);
    return;
  }
  std::string noise;
  for (int i = 0; i < 20'000; ++i) noise += i % 3 == 0 ? 'a' : 'b';
  CHECK(verdict(*rules, noise) == std::nullopt);
  CHECK(verdict(*rules, noise + "7xyzsecret7") == Reason::kSecretDetected);
}

}  // namespace
