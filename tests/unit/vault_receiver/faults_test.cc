#include "vault-receiver/faults.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "temp_vault.h"

namespace intray::vault_receiver {
namespace {

// Which of the first `n` saves of /a meet the fault: "..x" is the third only.
std::string pattern(FaultPlan& plan, int n, std::string_view path = "/a") {
  std::string out;
  for (int i = 0; i < n; ++i) out += plan.decide(Kind::kSave, path).fault ? 'x' : '.';
  return out;
}

std::string pattern_of(const std::string& spec, int n) {
  FaultPlan plan;
  plan.add(parse_fault(spec).value());
  return pattern(plan, n);
}

TEST_CASE("faults: each word is understood with its value") {
  const auto [spec, what] = GENERATE(table<std::string, What>({
      {"save:delay=5", What::kDelay},
      {"save:delay-answer=5", What::kDelayAnswer},
      {"delete:cut-before", What::kCutBefore},
      {"content:cut-after", What::kCutAfter},
      {"search:cut-body", What::kCutBody},
      {"any:reset-before", What::kResetBefore},
      {"any:reset-after", What::kResetAfter},
      {"any:status=429", What::kStatus},
      {"any:status-after=503", What::kStatusAfter},
      {"any:body=x", What::kBody},
      {"any:html", What::kHtml},
      {"any:stall", What::kStall},
      {"any:stall-after", What::kStallAfter},
      {"any:lie", What::kLie},
      {"save:mangle", What::kMangle},
      {"any:twice", What::kTwice},
      {"any:flood", What::kFlood},
      {"any:flood-head", What::kFloodHead},
      {"any:garbage", What::kGarbage},
  }));
  const auto fault = parse_fault(spec);
  REQUIRE(fault);
  CHECK(fault->what == what);
  CHECK(fault->spec == spec);
  CHECK(fault->kind.has_value() == !spec.starts_with("any:"));
}

TEST_CASE("faults: values and modifiers") {
  const Fault all =
      parse_fault("any:status=429:every=2:count=3:skip=4:path=/x:y:retry-after=Wed, 21 Oct 2015 07:28:00 GMT").value();
  CHECK(all.number == 429);
  CHECK(all.every == 2);
  CHECK(all.count == 3U);
  CHECK(all.skip == 4);
  CHECK(all.path_part == "/x:y");
  CHECK(all.retry_after == "Wed, 21 Oct 2015 07:28:00 GMT");
  const Fault body = parse_fault(R"(save:body={"ok":true,"count":"a=b"}:count=1)").value();
  CHECK(body.text == R"({"ok":true,"count":"a=b"})");
  CHECK(body.count == 1U);
}

TEST_CASE("faults: a mistyped specification is refused, not ignored") {
  for (const char* bad : {"",
                          "save",
                          "cut-after",
                          "saves:cut-after",
                          "save:",
                          "save:cut",
                          "save:cut-after=1",
                          "save:delay",
                          "save:delay=",
                          "save:delay=-1",
                          "save:delay=1s",
                          "save:delay=3600001",
                          "save:status=99",
                          "save:status=600",
                          "save:status=",
                          "save:cut-after:often",
                          "save:cut-after:every=0",
                          "save:cut-after:count=x",
                          "save:cut-after:count=",
                          "save:cut-after:retry-after=1",
                          "delete:mangle",
                          "save:cut-after::count=1"}) {
    CAPTURE(bad);
    const auto fault = parse_fault(bad);
    REQUIRE_FALSE(fault);
    CHECK(fault.error().what.find(bad) != std::string::npos);
  }
}

TEST_CASE("faults: every, count and skip choose the requests") {
  CHECK(pattern_of("save:html", 3) == "xxx");
  CHECK(pattern_of("save:html:every=3", 7) == "..x..x.");
  CHECK(pattern_of("save:html:count=2", 4) == "xx..");
  CHECK(pattern_of("save:html:skip=2", 4) == "..xx");
  CHECK(pattern_of("save:html:skip=1:every=2:count=2", 8) == "..x.x...");
  CHECK(pattern_of("save:html:count=0", 2) == "..");
  CHECK(pattern_of("any:html", 1) == "x");
  CHECK(pattern_of("delete:html", 2) == "..");
}

TEST_CASE("faults: requests that don't match are not counted") {
  FaultPlan plan;
  plan.add(parse_fault("save:html:skip=1:path=/a").value());
  CHECK(pattern(plan, 3, "/b") == "...");
  CHECK_FALSE(plan.decide(Kind::kDelete, "/a").fault);
  CHECK(pattern(plan, 2, "/x/abc") == ".x");
}

TEST_CASE("faults: delays add up, of the others the first wins") {
  FaultPlan plan;
  for (const char* spec : {"save:delay=5", "any:delay=7", "save:delay-answer=3", "save:cut-after", "save:html"}) {
    plan.add(parse_fault(spec).value());
  }
  const FaultAction action = plan.decide(Kind::kSave, "/a");
  CHECK(action.delay.count() == 12);
  CHECK(action.delay_answer.count() == 3);
  REQUIRE(action.fault);
  CHECK(action.fault->what == What::kCutAfter);
  CHECK(action.specs == "save:delay=5 any:delay=7 save:delay-answer=3 save:cut-after");
}

TEST_CASE("faults: the control file is followed, a bad one is not") {
  const TempVault dir;
  const std::string file = dir.path() + "/faults";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  FaultPlan plan;
  plan.set_file(file);
  CHECK(pattern(plan, 1) == ".");
  write("# comment\n\nsave:html:count=1\n");
  CHECK(pattern(plan, 2) == "x.");
  write("save:html:count=2\n");
  CHECK(pattern(plan, 3) == "xx.");
  write("save:htm\n");
  CHECK(pattern(plan, 1) == ".");
  write("save:html");
  CHECK(pattern(plan, 2) == "xx");
  write("save:nonsense");
  CHECK(pattern(plan, 2) == "xx");
  write("");
  CHECK(pattern(plan, 1) == ".");
  write("save:html");
  CHECK(pattern(plan, 1) == "x");
  std::remove(file.c_str());
  CHECK(pattern(plan, 1) == ".");
}

}  // namespace
}  // namespace intray::vault_receiver
