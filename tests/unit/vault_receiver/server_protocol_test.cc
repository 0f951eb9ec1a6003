// HTTP of the running program: order, limits, time-outs.
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "receiver_process.h"

namespace intray::vault_receiver {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

const std::string kNote = "/app/vault/a.md";

TEST_CASE("protocol: pipelined requests are answered in order, also behind one that waits") {
  const Receiver receiver({"--fault", "save:delay=100:count=1"});
  Client client(receiver.port());
  client.send(save(kNote, "1") + read(kNote) + save(kNote, "2") + read(kNote) + remove(kNote));
  CHECK(client.receive().body == "null");
  CHECK(client.receive().body == R"({"content":"1"})");
  CHECK(client.receive().body == "null");
  CHECK(client.receive().body == R"({"content":"2"})");
  CHECK(client.receive().body == "\"" + kNote + "\"");
  CHECK(receiver.log("applied").size() == 3);
}

TEST_CASE("protocol: a request in pieces, and one larger than any buffer") {
  const Receiver receiver;
  Client client(receiver.port());
  const std::string request = save(kNote, "pieces");
  client.send(request.substr(0, 30));
  std::this_thread::sleep_for(milliseconds(20));
  client.send(request.substr(30, request.size() - 31));
  std::this_thread::sleep_for(milliseconds(20));
  CHECK(receiver.log().empty());
  client.send(request.substr(request.size() - 1));
  CHECK(client.receive().status == 200);

  const std::string large(2 * 1024 * 1024, 'x');
  client.send(save(kNote, large));
  CHECK(client.receive().status == 200);
  CHECK(read_file(receiver.dir() + "/a.md") == large);
  client.send(read(kNote));
  CHECK(client.receive().body.size() == large.size() + std::string(R"({"content":""})").size());
}

TEST_CASE("protocol: what is not an acceptable request is refused, logged, and ends the connection") {
  const auto [request, status] = GENERATE(table<std::string, int>({
      {"POST /api/vault/save HTTP/1.1\r\nHost: v\r\n\r\n", 411},
      {"POST /api/vault/save HTTP/1.1\r\nHost: v\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: v\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: v\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400},
      {"POST / HTTP/1.1\r\nHost: v\r\nContent-Length: 33554433\r\n\r\n" + std::string(1'000'000, 'x'), 413},
      {"GET / HTTP/1.1\r\nHost: v\r\nX: " + std::string(1'000'000, 'x'), 431},
      {"\x16\x03\x01 hello", 400},
  }));
  CAPTURE(request.substr(0, 80));
  const Receiver receiver;
  Client client(receiver.port());
  client.send(request);
  const Answer answer = client.receive();
  CHECK(answer.status == status);
  CHECK(answer.whole);
  CHECK(answer.headers.at("Connection") == "close");
  CHECK(nlohmann::json::parse(answer.body).contains("error"));
  client.shut_down_sending();
  std::string more;
  CHECK(client.read_to_end(more) == End::kClosed);
  CHECK(more.empty());
  const auto lines = receiver.log();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].at("event") == "refused");
  CHECK(lines[0].at("status") == status);
}

TEST_CASE("protocol: Connection: close and HTTP/1.0 end after the answer, half-closed clients get theirs") {
  const Receiver receiver;
  std::string more;
  Client closing(receiver.port());
  closing.send(save(kNote, "x", "Connection: close\r\n"));
  const Answer answer = closing.receive();
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Connection") == "close");
  CHECK_FALSE(answer.headers.contains("Keep-Alive"));
  CHECK(closing.read_to_end(more) == End::kClosed);

  Client old(receiver.port());
  old.send("GET /api/vault/content?path=/app/vault/a.md HTTP/1.0\r\n\r\n");
  CHECK(old.receive().body == R"({"content":"x"})");
  CHECK(old.read_to_end(more) == End::kClosed);

  Client half(receiver.port());
  half.send(read(kNote) + read(kNote));
  half.shut_down_sending();
  CHECK(half.receive().status == 200);
  CHECK(half.receive().status == 200);
  CHECK(half.read_to_end(more) == End::kClosed);
}

TEST_CASE("protocol: a client that waits for 100 Continue gets it") {
  const Receiver receiver;
  Client client(receiver.port());
  const std::string request = save(kNote, "x", "Expect: 100-continue\r\n");
  const std::size_t head = request.find("\r\n\r\n") + 4;
  client.send(request.substr(0, head));
  CHECK(client.receive().status == 100);
  client.send(request.substr(head));
  CHECK(client.receive().status == 200);
}

TEST_CASE("protocol: an idle connection is closed in time, also a fresh one; a busy one is not") {
  const milliseconds idle(1000);
  const Receiver receiver({"--idle-timeout", "1"});
  Client fresh(receiver.port());
  Client busy(receiver.port());
  const auto start = steady_clock::now();
  auto last = start;
  while (last - start < idle + idle / 2) {
    const auto before = std::exchange(last, steady_clock::now());
    busy.send(read(kNote));
    const Answer answer = busy.receive();
    // Only a machine that stopped us for that long may make the server right to close.
    if (answer.status == 0 && steady_clock::now() - before >= idle) return;
    REQUIRE(answer.status == 400);
    CHECK(answer.headers.at("Keep-Alive") == "timeout=1");
    std::this_thread::sleep_for(milliseconds(100));
  }
  std::string more;
  CHECK(busy.read_to_end(more) == End::kClosed);
  CHECK(steady_clock::now() - last >= idle);
  CHECK(fresh.read_to_end(more) == End::kClosed);
  CHECK(more.empty());
}

TEST_CASE("protocol: without idle time-out connections stay") {
  const Receiver receiver({"--idle-timeout", "0"});
  Client client(receiver.port());
  client.send(read(kNote));
  CHECK_FALSE(client.receive().headers.contains("Keep-Alive"));
  std::string more;
  CHECK(client.read_to_end(more, milliseconds(300)) == End::kOpen);
  client.send(read(kNote));
  CHECK(client.receive().status == 400);
}

TEST_CASE("protocol: clients beyond the maximum wait for their turn") {
  const Receiver receiver({"--max-connections", "2", "--idle-timeout", "0"});
  Client first(receiver.port());
  Client second(receiver.port());
  for (Client* client : {&first, &second}) {
    client->send(read(kNote));
    CHECK(client->receive().status == 400);
  }
  Client third(receiver.port());
  third.send(read(kNote));
  std::string more;
  CHECK(third.read_to_end(more, milliseconds(200)) == End::kOpen);
  CHECK(more.empty());
  first.close();
  CHECK(third.receive().status == 400);
}

TEST_CASE("protocol: a client that doesn't read its answers delays nobody") {
  const Receiver receiver;
  const std::string large(2 * 1024 * 1024, 'x');
  CHECK(call(receiver, save(kNote, large)).status == 200);
  Client deaf(receiver.port());
  for (int i = 0; i < 8; ++i) deaf.send(read(kNote));
  REQUIRE(receiver.await_events("answered", 2));
  CHECK(call(receiver, read("/app/vault/b.md")).status == 400);
  for (int i = 0; i < 8; ++i) CHECK(deaf.receive().body.size() == large.size() + 14);
}

}  // namespace
}  // namespace intray::vault_receiver
