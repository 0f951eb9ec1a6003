// The pool against a connector that the test plays itself.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>

#include "receiver/descriptor_pool.h"
#include "scripted_server.h"
#include "sys/process.h"
#include "sys/socket.h"

namespace intray::test {
namespace {

using namespace std::chrono_literals;

// connect(2) itself: in this program connect() is the shim's.
sys::Fd dial(const ScriptedServer& server, int flags = SOCK_NONBLOCK) {
  sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  REQUIRE(::syscall(SYS_connect, fd.get(), &address, sizeof address) == 0);
  if ((flags & SOCK_NONBLOCK) != 0) REQUIRE(::fcntl(fd.get(), F_SETFL, O_NONBLOCK) == 0);
  return fd;
}

struct PoolFixture {
  explicit PoolFixture(std::string address, base::Micros age_max = 3s) {
    loop = std::move(*sys::EventLoop::create());
    auto pair = sys::make_channel();
    theirs = std::move(pair->theirs);
    receiver::PoolOptions options;
    options.peer_address = std::move(address);
    options.ready_age_max = age_max;
    auto made = receiver::DescriptorPool::create(std::move(pair->ours), options, *loop, clock);
    REQUIRE(made);
    pool = std::move(*made);
    pool->on_answer([this](bool connected) { answers += connected ? '+' : '-'; });
    pool->on_broken([this](const std::string& why) { broken.push_back(why); });
  }
  int asked() const {
    int n = 0;
    char byte = 0;
    while (::recv(theirs.get(), &byte, 1, MSG_DONTWAIT) == 1) {
      CHECK(byte == 'C');
      ++n;
    }
    return n;
  }
  void answer(char byte, int fd = -1) {
    REQUIRE(sys::send_packet(theirs.get(), byte, fd));
    run();
  }
  void run(base::Micros time = 20ms) { REQUIRE(loop->run_once(time)); }

  base::SystemClock clock;
  std::unique_ptr<sys::EventLoop> loop;
  sys::Fd theirs;
  std::unique_ptr<receiver::DescriptorPool> pool;
  std::string answers;
  std::vector<std::string> broken;
};

ScriptedServer::Serve hold() {
  return [](ScriptedServer&, Peer& peer) { static_cast<void>(peer.request()); };
}

TEST_CASE("pool: asks for what is missing, and hands out what came") {
  ScriptedServer server(hold());
  PoolFixture fixture(server.address());
  fixture.pool->ask(3);
  CHECK(fixture.asked() == 3);
  fixture.pool->ask(3);
  CHECK(fixture.asked() == 0);
  CHECK(fixture.pool->dialling() == 3);
  fixture.answer('K', dial(server).get());
  fixture.answer('E');
  CHECK(fixture.answers == "+-");
  CHECK(fixture.pool->ready() == 1);
  CHECK(fixture.pool->dialling() == 1);
  const sys::Fd fd = fixture.pool->take();
  REQUIRE(fd.valid());
  CHECK((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK_FALSE(fixture.pool->take().valid());
  CHECK(fixture.broken.empty());
}

// The client takes what comes, the executor's loop only wants to know; neither may depend on who asked first.
TEST_CASE(
    "pool: every listener hears every answer, whoever of them takes the descriptor, in whatever order they came") {
  const bool taker_first = GENERATE(true, false);
  ScriptedServer server(hold());
  PoolFixture fixture(server.address());
  std::vector<sys::Fd> taken;
  std::string heard;
  const auto take = [&](bool) {
    if (sys::Fd fd = fixture.pool->take(); fd.valid()) taken.push_back(std::move(fd));
    fixture.pool->ask(1);  // the next one, from within
  };
  const auto hear = [&](bool connected) { heard += connected ? '+' : '-'; };
  if (taker_first) fixture.pool->on_answer(take);
  fixture.pool->on_answer(hear);
  if (!taker_first) fixture.pool->on_answer(take);
  fixture.pool->ask(1);
  fixture.answer('K', dial(server).get());
  fixture.answer('E');
  fixture.answer('K', dial(server).get());
  CHECK(heard == "+-+");
  CHECK(fixture.answers == "+-+");
  CHECK(taken.size() == 2);
  CHECK(fixture.asked() == 4);
  CHECK(fixture.pool->ready() == 0);
}

TEST_CASE("pool: a blocking descriptor is made non-blocking") {
  ScriptedServer server(hold());
  PoolFixture fixture(server.address());
  fixture.pool->ask(1);
  fixture.answer('K', dial(server, 0).get());
  const sys::Fd fd = fixture.pool->take();
  REQUIRE(fd.valid());
  CHECK((::fcntl(fd.get(), F_GETFL) & O_NONBLOCK) != 0);
}

TEST_CASE("pool: a descriptor that is not the receiver ends the channel") {
  ScriptedServer server(hold());
  ScriptedServer other(hold());
  PoolFixture fixture(server.address());
  fixture.pool->ask(2);
  SECTION("another address") { fixture.answer('K', dial(other).get()); }
  SECTION("a datagram socket") { fixture.answer('K', sys::Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)).get()); }
  SECTION("a local socket") { fixture.answer('K', sys::make_stream_pair()->ours.get()); }
  SECTION("multipath TCP") {
    constexpr int kMptcp = 262;
    const sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, kMptcp));
    if (!fd.valid()) return;  // not in this kernel
    fixture.answer('K', fd.get());
  }
  REQUIRE(fixture.broken.size() == 1);
  CHECK(fixture.answers == "-");
  CHECK(fixture.pool->ready() == 0);
  CHECK(fixture.pool->dialling() == 0);
  fixture.pool->ask(5);
  CHECK(fixture.pool->dialling() == 0);
}

TEST_CASE("pool: a file is no socket") {
  PoolFixture fixture("127.0.0.1:1");
  CHECK_FALSE(fixture.pool->broken());
  fixture.pool->ask(1);
  fixture.answer('K', STDERR_FILENO);
  CHECK(fixture.answers == "-");
  CHECK(fixture.broken.size() == 1);
  CHECK(fixture.pool->broken());
  CHECK(fixture.pool->ready() == 0);
}

TEST_CASE("pool: malformed answers end the channel") {
  PoolFixture fixture("127.0.0.1:1");
  fixture.pool->ask(2);
  SECTION("K without a descriptor") { fixture.answer('K'); }
  SECTION("E with one") { fixture.answer('E', STDERR_FILENO); }
  SECTION("another byte") { fixture.answer('X'); }
  SECTION("two bytes") {
    REQUIRE(::send(fixture.theirs.get(), "EE", 2, 0) == 2);
    fixture.run();
  }
  SECTION("closed") {
    fixture.theirs.reset();
    fixture.run();
  }
  REQUIRE(fixture.broken.size() == 1);
  CHECK(fixture.answers.empty());
}

TEST_CASE("pool: an answer to nothing ends the channel") {
  PoolFixture fixture("127.0.0.1:1");
  fixture.answer('E');
  CHECK(fixture.broken.size() == 1);
}

TEST_CASE("pool: old, closed and speaking connections are not handed out") {
  SECTION("old") {
    ScriptedServer server(hold());
    PoolFixture fixture(server.address(), 60ms);
    fixture.pool->ask(1);
    fixture.answer('K', dial(server).get());
    CHECK(fixture.pool->ready() == 1);
    fixture.run(200ms);  // its timer
    CHECK(fixture.pool->ready() == 0);
  }
  SECTION("closed") {
    ScriptedServer server([](ScriptedServer&, Peer&) {});
    PoolFixture fixture(server.address());
    fixture.pool->ask(1);
    const sys::Fd fd = dial(server);
    fixture.answer('K', fd.get());
    for (int i = 0; i < 1000 && sys::quietness(fd.get()) == sys::Quiet::kYes; ++i) ::usleep(2'000);
    CHECK_FALSE(fixture.pool->take().valid());
  }
  SECTION("speaking") {
    ScriptedServer server([](ScriptedServer&, Peer& peer) {
      peer.send("220 mail\r\n");
      static_cast<void>(peer.request());
    });
    PoolFixture fixture(server.address());
    fixture.pool->ask(1);
    const sys::Fd fd = dial(server);
    fixture.answer('K', fd.get());
    for (int i = 0; i < 1000 && sys::quietness(fd.get()) == sys::Quiet::kYes; ++i) ::usleep(2'000);
    CHECK_FALSE(fixture.pool->take().valid());
  }
}

TEST_CASE("pool: connections that are used up one by one are asked for ahead") {
  ScriptedServer server(hold());
  PoolFixture fixture(server.address());
  fixture.pool->ask(6);
  for (int i = 0; i < 6; ++i) fixture.answer('K', dial(server).get());
  CHECK(fixture.asked() == 6);
  for (int i = 0; i < 3; ++i) REQUIRE(fixture.pool->take().valid());
  CHECK(fixture.asked() == 0);  // a burst
  for (int i = 0; i < 3; ++i) REQUIRE(fixture.pool->take().valid());
  CHECK(fixture.asked() == 4);  // and more than one
}

TEST_CASE("pool: refuses options that can't be") {
  base::SystemClock clock;
  auto loop = std::move(*sys::EventLoop::create());
  for (const std::string address : {"", "localhost:80", "127.0.0.1", "127.0.0.1:0", "1.2.3.4:080", "::1:80", "[::1]"}) {
    receiver::PoolOptions options;
    options.peer_address = address;
    CHECK_FALSE(receiver::DescriptorPool::create(std::move(sys::make_channel()->ours), options, *loop, clock));
  }
}

}  // namespace
}  // namespace intray::test
