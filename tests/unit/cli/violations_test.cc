#include "cli/violations.h"

#include <catch2/catch.hpp>

namespace intray::cli {
namespace {

const std::string kLine =
    "audit: type=1326 audit(1796067328.185:6): auid=4294967295 uid=65534 gid=65533 ses=4294967295 pid=3656 "
    "comm=\"intray-save\" exe=\"/usr/sbin/intray-save\" sig=31 arch=c000003e syscall=91 compat=0 ip=0x7efc45b15d87 "
    "code=0x80000000";

std::string with(const std::string& from, const std::string& to) {
  std::string line = kLine;
  return line.replace(line.find(from), from.size(), to);
}

TEST_CASE("parse_violation: program, process, user, call and signal of the kernel's line") {
  const auto violation = parse_violation(kLine);
  REQUIRE(violation);
  CHECK(violation->program == "intray-save");
  CHECK(violation->pid == 3656);
  CHECK(violation->uid == 65534);  // not auid, which ends the same way
  CHECK(violation->call == 91);
  CHECK(violation->signal == 31);
  CHECK(parse_violation(with("comm=\"intray-save\"", "comm=\"intray-connecto\"")));
}

TEST_CASE("parse_violation: self-tests, other programs and other lines are none") {
  CHECK_FALSE(parse_violation(with("intray-save\" exe", "intray-selftest\" exe")));
  CHECK_FALSE(parse_violation(with("intray-save\" exe", "intray-saver\" exe")));
  CHECK_FALSE(parse_violation(with("intray-save\" exe", "firefox\" exe")));
  CHECK_FALSE(parse_violation(with("type=1326", "type=1400")));
  CHECK_FALSE(parse_violation(""));
}

TEST_CASE("parse_violation: a line that is cut or not of numbers is none") {
  CHECK_FALSE(parse_violation(with(" syscall=91", "")));
  CHECK_FALSE(parse_violation(with("syscall=91", "syscall=91x")));
  CHECK_FALSE(parse_violation(with("pid=3656", "pid=")));
  CHECK_FALSE(parse_violation(with("sig=31", "sig=99999999999999")));
  for (std::size_t size = 0; size < kLine.find(" compat"); ++size) {
    const auto cut = parse_violation(kLine.substr(0, size));
    if (cut) CHECK(cut->call != 91);
  }
}

TEST_CASE("parse_violation: numbers as the kernel's types have them") {
  CHECK(parse_violation(with(" uid=65534", " uid=4294967294"))->uid == 4294967294);
  CHECK(parse_violation(with("syscall=91", "syscall=-1"))->call == -1);
  CHECK_FALSE(parse_violation(with(" uid=65534", " uid=4294967296")));
  CHECK_FALSE(parse_violation(with("pid=3656", "pid=-1")));
  CHECK_FALSE(parse_violation(with("sig=31", "sig=-31")));
}

TEST_CASE("parse_violation: a process's chosen name can't pass for a field") {
  // comm is quoted unless it holds odd bytes, and then it is printed in hex.
  CHECK_FALSE(parse_violation(with("comm=\"intray-save\"", "comm=\"x pid=1\"")));
  CHECK_FALSE(parse_violation(with("comm=\"intray-save\"", "comm=696E747261792D73617665")));
}

}  // namespace
}  // namespace intray::cli
