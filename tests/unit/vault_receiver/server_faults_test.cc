// Each fault of the running program: what the client sees, and whether the vault changed.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "receiver_process.h"

namespace intray::vault_receiver {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

const std::string kNote = "/app/vault/a.md";

struct Case {
  std::string spec;
  End end;           // of the connection, right after the request
  int status;        // 0: no answer
  std::string body;  // of the answer
  bool applied;
  std::string events;
};

TEST_CASE("faults: each does to the wire and to the vault what it says") {
  const std::string closed_events = "received unanswered";
  const std::string applied_events = "received applied unanswered";
  const auto fault = GENERATE_COPY(values<Case>({
      {"save:cut-before", End::kClosed, 0, "", false, closed_events},
      {"save:cut-after", End::kClosed, 0, "", true, applied_events},
      {"save:reset-before", End::kReset, 0, "", false, closed_events},
      {"save:reset-after", End::kReset, 0, "", true, applied_events},
      {"save:stall", End::kOpen, 0, "", false, closed_events},
      {"save:stall-after", End::kOpen, 0, "", true, applied_events},
      {"save:status=503:retry-after=7", End::kOpen, 503, R"({"error":"Service Unavailable"})", false,
       "received answered"},
      {"save:status-after=500", End::kOpen, 500, R"({"error":"Internal Server Error"})", true,
       "received applied answered"},
      {"save:status=302", End::kOpen, 302, R"({"error":"Found"})", false, "received answered"},
      {"save:status=204", End::kOpen, 204, "", false, "received answered"},
      {"save:status=103", End::kClosed, 103, "", false, "received answered"},
      {"any:body=[1]:count=1", End::kOpen, 200, "[1]", true, "received applied answered"},
      {"save:html", End::kOpen, 200, "<!doctype html><html><body><h1>Welcome</h1></body></html>\n", false,
       "received answered"},
      {"save:lie", End::kOpen, 200, "null", false, "received answered"},
      {"delete:cut-after", End::kOpen, 200, "null", true, "received applied answered"},
  }));
  CAPTURE(fault.spec);
  const Receiver receiver({"--fault", fault.spec});
  Client client(receiver.port());
  client.send(save(kNote, "content"));
  if (fault.status != 0) {
    const Answer answer = client.receive();
    CHECK(answer.status == fault.status);
    CHECK(answer.body == fault.body);
    CHECK(answer.whole);
    if (fault.status == 503) CHECK(answer.headers.at("Retry-After") == "7");
    if (fault.status == 302) CHECK(answer.headers.at("Location") == "/api/vault/elsewhere");
    if (fault.spec == "save:html") CHECK(answer.headers.at("Content-Type").starts_with("text/html"));
  }
  // Nothing on the wire tells that a stalled request has arrived.
  if (fault.end == End::kOpen && fault.status == 0) REQUIRE(receiver.await_events("unanswered", 1));
  std::string more;
  CHECK(client.read_to_end(more, fault.end == End::kOpen ? milliseconds(100) : milliseconds(kPatience)) == fault.end);
  CHECK(more.empty());
  CHECK(fs::exists(receiver.dir() + "/a.md") == fault.applied);
  CHECK(receiver.events(1) == fault.events);
  CHECK(receiver.log("applied").size() == (fault.applied ? 1 : 0));
  REQUIRE(receiver.log("received").size() == 1);
  if (!fault.spec.starts_with("delete:")) CHECK(receiver.log("received")[0].at("fault") == fault.spec);
}

TEST_CASE("faults: cut-body ends in the middle of the answer") {
  const Receiver receiver({"--fault", "save:cut-body"});
  Client client(receiver.port());
  client.send(save(kNote, "content"));
  const Answer answer = client.receive();
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Content-Length") == "4");
  CHECK(answer.body == "nu");
  CHECK_FALSE(answer.whole);
  CHECK(receiver.events(1) == "received applied unanswered");
}

TEST_CASE("faults: a delete's and a read's faults have their own success answers") {
  const Receiver receiver({"--fault", "delete:lie:count=1", "--fault", "content:lie:count=1"});
  CHECK(call(receiver, save(kNote, "content")).status == 200);
  CHECK(call(receiver, remove(kNote)).body == "\"" + kNote + "\"");
  CHECK(fs::exists(receiver.dir() + "/a.md"));
  CHECK(call(receiver, read(kNote)).body == R"({"content":""})");
  CHECK(call(receiver, read(kNote)).body == R"({"content":"content"})");
}

TEST_CASE("faults: mangle stores other bytes, and the log says which") {
  const Receiver receiver({"--fault", "any:mangle:count=2"});
  const auto stored = [&](const std::string& content) {
    CHECK(call(receiver, save(kNote, content)).body == "null");
    return read_file(receiver.dir() + "/a.md");
  };
  CHECK(stored("ab\xC3\xA4") == "ab\xEF\xBF\xBD");
  CHECK(stored("") == "\xEF\xBF\xBD");
  CHECK(stored("ab\xC3\xA4") == "ab\xC3\xA4");
  const auto applied = receiver.log("applied");
  const auto received = receiver.log("received");
  REQUIRE(applied.size() == 3);
  REQUIRE(received.size() == 3);
  CHECK(applied[0].at("content_sha256") != received[0].at("content_sha256"));
  CHECK(applied[2].at("content_sha256") == received[2].at("content_sha256"));
}

TEST_CASE("faults: twice, garbage and floods") {
  const Receiver receiver({"--fault", "save:twice:count=1", "--fault", "save:garbage:skip=1:count=1", "--fault",
                           "save:flood:skip=2:count=1", "--fault", "save:flood-head:skip=3:count=1"});
  Client twice(receiver.port());
  twice.send(save(kNote, "1"));
  CHECK(twice.receive().body == "null");
  CHECK(twice.receive().body == "null");

  Client garbage(receiver.port());
  garbage.send(save(kNote, "2"));
  std::string bytes;
  CHECK(garbage.read_to_end(bytes) == End::kClosed);
  CHECK_FALSE(bytes.starts_with("HTTP/"));
  CHECK_FALSE(bytes.empty());

  CHECK(call(receiver, save(kNote, "3")).body.size() == 8 * 1024 * 1024);

  Client head(receiver.port());
  head.send(save(kNote, "4"));
  CHECK(head.read_to_end(bytes) == End::kClosed);
  CHECK(bytes.find("\r\n\r\n") >= 8 * 1024 * 1024);
  CHECK(read_file(receiver.dir() + "/a.md") == "4");
  CHECK(receiver.log("applied").size() == 4);
}

TEST_CASE("faults: delay waits before the effect, delay-answer after it") {
  const Receiver receiver({"--fault", "save:delay=3000", "--fault", "delete:delay-answer=3000"});
  const auto start = steady_clock::now();
  Client saving(receiver.port());
  saving.send(save(kNote, "x"));
  REQUIRE(receiver.await_events("received", 1));
  CHECK(call(receiver, read(kNote)).status == 400);  // others are served meanwhile
  CHECK(saving.receive().status == 200);
  CHECK(steady_clock::now() - start >= milliseconds(3000));

  const auto second = steady_clock::now();
  Client deleting(receiver.port());
  deleting.send(remove(kNote));
  REQUIRE(receiver.await_events("applied", 2));
  CHECK(call(receiver, read(kNote)).status == 400);
  CHECK(deleting.receive().status == 200);
  CHECK(steady_clock::now() - second >= milliseconds(3000));
}

TEST_CASE("faults: what a delayed request asked for happens although the client is gone") {
  const bool by_reset = GENERATE(false, true);
  const Receiver receiver({"--fault", "save:delay=3000"});
  Client client(receiver.port());
  client.send(save(kNote, "x"));
  REQUIRE(receiver.await_events("received", 1));
  by_reset ? client.reset() : client.close();
  REQUIRE(receiver.await_events("applied", 1));
  CHECK(read_file(receiver.dir() + "/a.md") == "x");
  if (by_reset) {
    REQUIRE(receiver.await_events("unanswered", 1));
    CHECK(receiver.log("unanswered")[0].at("why") == "client gone");
  }
  CHECK(call(receiver, read(kNote)).status == 200);
}

TEST_CASE("faults: a stalled client that leaves is let go") {
  const Receiver receiver({"--fault", "save:stall", "--max-connections", "1"});
  Client client(receiver.port());
  client.send(save(kNote, "x"));
  REQUIRE(receiver.await_events("unanswered", 1));
  client.close();
  CHECK(call(receiver, read(kNote)).status == 400);
}

TEST_CASE("faults: refused requests meet no fault and are not counted") {
  const Receiver receiver({"--fault", "any:status=500:count=1"});
  CHECK(call(receiver, save("/app/vault/../x", "x")).status == 400);
  CHECK(call(receiver, get("/nowhere")).status == 404);
  CHECK(call(receiver, save(kNote, "x")).status == 500);
  CHECK(call(receiver, save(kNote, "x")).status == 200);
}

TEST_CASE("faults: an honest refusal is not dressed up as a success") {
  const Receiver receiver({"--fault", "delete:body=null"});
  CHECK(call(receiver, remove(kNote)).status == 500);
}

TEST_CASE("faults: the control file switches them while the program runs") {
  const TempVault temp;
  const std::string file = temp.path() + "/faults";
  const auto write = [&](const std::string& text) {
    std::ofstream(file + ".new") << text;
    fs::rename(file + ".new", file);
  };
  const Receiver receiver({"--fault-file", file});
  CHECK(call(receiver, save(kNote, "x")).status == 200);
  write("save:status=503:path=a.md\n");
  CHECK(call(receiver, save(kNote, "x")).status == 503);
  CHECK(call(receiver, save("/app/vault/b.md", "x")).status == 200);
  write("# none\n");
  CHECK(call(receiver, save(kNote, "x")).status == 200);
}

}  // namespace
}  // namespace intray::vault_receiver
