// The intray-connector program, spoken to over its channel.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client_fixture.h"
#include "scripted_server.h"
#include "sys/process.h"
#include "sys/socket.h"

namespace intray::test {
namespace {

using namespace std::chrono_literals;

class Connector {
 public:
  explicit Connector(std::vector<std::string> arguments) {
    auto pair = sys::make_channel();
    REQUIRE(pair);
    channel = std::move(pair->ours);
    auto pid = sys::spawn(connector_program(), arguments, std::move(pair->theirs));
    REQUIRE(pid);
    pid_ = *pid;
  }
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector() {
    channel.reset();
    if (pid_ > 0) exit_code();
  }

  void ask(std::string_view bytes = "C") const {
    REQUIRE(::send(channel.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  }
  sys::Packet answer(int wait_ms = 5000) const {
    pollfd ready{channel.get(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, wait_ms) == 1);
    auto packet = sys::receive_packet(channel.get());
    REQUIRE(packet);
    return std::move(*packet);
  }
  bool silent(int wait_ms) const {
    pollfd ready{channel.get(), POLLIN, 0};
    return ::poll(&ready, 1, wait_ms) == 0;
  }
  // Waits for its end. -1: killed by a signal; by ours, where it doesn't end by itself.
  int exit_code() {
    constexpr int kPatience_ms = 30'000;
    const sys::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    pollfd ended{process.get(), POLLIN, 0};
    if (::poll(&ended, 1, kPatience_ms) == 0) ::kill(pid_, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(std::exchange(pid_, -1), &status, 0) > 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int pid() const { return pid_; }

  sys::Fd channel;

 private:
  int pid_ = -1;
};

ScriptedServer::Serve hold() {
  return [](ScriptedServer&, Peer& peer) { static_cast<void>(peer.request()); };
}

TEST_CASE("connector: one byte, one connection to the one address") {
  ScriptedServer server(hold());
  const Connector connector({"--address", server.address()});
  const auto peer = sys::parse_address(server.address());
  for (int i = 0; i < 3; ++i) {
    connector.ask();
    const sys::Packet packet = connector.answer();
    CHECK(packet.byte == 'K');
    REQUIRE(packet.fd.valid());
    CHECK(sys::check_peer(packet.fd.get(), *peer));
    CHECK(sys::quietness(packet.fd.get()) == sys::Quiet::kYes);
  }
  CHECK(connector.silent(50));
  for (int i = 0; i < 500 && server.connections() < 3; ++i) std::this_thread::sleep_for(2ms);
  CHECK(server.connections() == 3);
}

TEST_CASE("connector: a host name is resolved once, at start") {
  ScriptedServer server(hold());
  const Connector connector({"--address=localhost:" + std::to_string(server.port())});
  connector.ask();
  const sys::Packet packet = connector.answer();
  // "localhost" may be ::1 first, where the server does not listen.
  CHECK((packet.byte == 'K' || packet.byte == 'E'));
}

TEST_CASE("connector: receiver down is an E, at once and every time") {
  const Connector connector({"--address", "127.0.0.1:" + std::to_string(closed_port())});
  for (int i = 0; i < 3; ++i) {
    connector.ask();
    const sys::Packet packet = connector.answer();
    CHECK(packet.byte == 'E');
    CHECK_FALSE(packet.fd.valid());
  }
}

TEST_CASE("connector: a receiver that does not take connections is an E after the time-out") {
  // A full accept queue: the kernel leaves further dials unanswered.
  const sys::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::listen(listener.get(), 0) == 0);
  const std::string address = "127.0.0.1:" + std::to_string(*sys::local_port(listener.get()));
  const Connector connector({"--address", address, "--connect-timeout-ms", "300"});
  std::vector<char> answers;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 6; ++i) connector.ask();
  for (int i = 0; i < 6; ++i) answers.push_back(connector.answer().byte);
  CHECK(answers.front() == 'K');
  CHECK(answers.back() == 'E');
  CHECK(std::chrono::steady_clock::now() - began >= 250ms);
  CHECK(std::chrono::steady_clock::now() - began < 20s);
}

TEST_CASE("connector: anything but one C ends it") {
  const auto request =
      GENERATE(as<std::string>{}, "CC", "X", "K", std::string("\0", 1), "C127.0.0.1:22", std::string(70'000, 'C'));
  Connector connector({"--address", "127.0.0.1:" + std::to_string(closed_port())});
  connector.ask(request);
  CHECK(connector.exit_code() == 65);
}

TEST_CASE("connector: a descriptor sent along is not received") {
  Connector connector({"--address", "127.0.0.1:" + std::to_string(closed_port())});
  REQUIRE(sys::send_packet(connector.channel.get(), 'C', STDERR_FILENO));
  CHECK(connector.answer().byte == 'E');
  const std::string command = "ls /proc/" + std::to_string(connector.pid()) + "/fd | wc -l";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  int open_files = 0;
  REQUIRE(std::fscanf(pipe.get(), "%d", &open_files) == 1);
  CHECK(open_files == 4);  // 0, 1, 2 and the channel
}

TEST_CASE("connector: a closed channel ends it quietly") {
  Connector connector({"--address", "127.0.0.1:" + std::to_string(closed_port())});
  connector.channel.reset();
  CHECK(connector.exit_code() == 0);
}

TEST_CASE("connector: what is beyond the dials in flight waits, and all are answered in order") {
  ScriptedServer server(hold());
  const Connector connector({"--address", server.address(), "--dials-in-flight", "2"});
  for (int i = 0; i < 100; ++i) connector.ask();
  for (int i = 0; i < 100; ++i) CHECK(connector.answer().byte == 'K');
  CHECK(connector.silent(20));
}

TEST_CASE("connector: what is beyond the dials per minute is an E without a dial") {
  ScriptedServer server(hold());
  const Connector connector({"--address", server.address(), "--dials-per-minute", "5"});
  std::string answers;
  for (int i = 0; i < 12; ++i) {
    connector.ask();
    answers += connector.answer().byte;
  }
  CHECK(answers == "KKKKKEEEEEEE");
  for (int i = 0; i < 500 && server.connections() < 5; ++i) std::this_thread::sleep_for(2ms);
  CHECK(server.connections() == 5);
}

TEST_CASE("connector: an executor that takes nothing out is waited for without spinning") {
  ScriptedServer server(hold());
  const Connector connector({"--address", server.address(), "--dials-in-flight", "1024"});
  for (int i = 0; i < 250; ++i) connector.ask();
  std::this_thread::sleep_for(500ms);
  const std::string command = "awk '{print $14 + $15}' /proc/" + std::to_string(connector.pid()) + "/stat";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  int ticks = 0;
  REQUIRE(std::fscanf(pipe.get(), "%d", &ticks) == 1);
  CHECK(ticks < 30);  // of 50 in half a second
  for (int i = 0; i < 250; ++i) CHECK(connector.answer().byte == 'K');
}

TEST_CASE("connector: wrong options are usage errors") {
  const auto arguments = GENERATE(as<std::vector<std::string>>{},                       //
                                  std::vector<std::string>{},                           //
                                  std::vector<std::string>{"--address"},                //
                                  std::vector<std::string>{"--adress", "127.0.0.1:1"},  //
                                  std::vector<std::string>{"127.0.0.1:1"},              //
                                  std::vector<std::string>{"--address", "127.0.0.1:1", "--channel", "0"},
                                  std::vector<std::string>{"--address", "127.0.0.1:1", "--connect-timeout-ms", "0"},
                                  std::vector<std::string>{"--address", "127.0.0.1:1", "--dials-in-flight", "1025"},
                                  std::vector<std::string>{"--address", "127.0.0.1:1", "--dials-per-minute", "x"},
                                  std::vector<std::string>{"--address", "127.0.0.1:1", "--dials-per-minute", "-1"});
  Connector connector(arguments);
  CHECK(connector.exit_code() == 64);
}

TEST_CASE("connector: an address that is none") {
  const auto address = GENERATE(as<std::string>{}, "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:0", "127.0.0.1:65536",
                                "127.0.0.1:http", "no.such.host.invalid:80", "[::1:80");
  Connector connector({"--address", address});
  CHECK(connector.exit_code() == 68);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("connector: needs the C library and libseccomp, and nothing else") {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(("ldd " + connector_program()).c_str(), "r"), &::pclose);
  char* line = nullptr;
  std::size_t room = 0;
  std::vector<std::string> foreign;
  int lines = 0;
  while (::getline(&line, &room, pipe.get()) > 0) {
    const std::string text(line);
    ++lines;
    if (text.find("vdso") == std::string::npos && text.find("libc.so.6") == std::string::npos &&
        text.find("/ld-linux") == std::string::npos && text.find("libseccomp.so.2") == std::string::npos)
      foreign.push_back(text);
  }
  std::free(line);
  CHECK(lines >= 2);
  CHECK(foreign.empty());
}
#endif

}  // namespace
}  // namespace intray::test
