// The program as a process: start, refusals to start, signals, the parent's death, what a reader of the directory sees.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "receiver_process.h"

namespace intray::vault_receiver {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

const std::string kNote = "/app/vault/a.md";

TEST_CASE("process: help and version") {
  const Finished help = run_receiver({"--help"});
  CHECK(help.status == 0);
  for (const char* option :
       {"--dir", "--vault-root", "--listen", "--listen-any", "--credential-file", "--log", "--fault", "--fault-file",
        "--idle-timeout", "--max-connections", "--sync", "--die-with-parent"}) {
    CHECK(help.out.find(option) != std::string::npos);
  }
  const Finished version = run_receiver({"--version"});
  CHECK(version.status == 0);
  CHECK(version.out.starts_with("vault-receiver "));
}

TEST_CASE("process: it does not start with what it can't serve") {
  const TempVault temp;
  std::ofstream(temp.path() + "/empty");
  const std::string dir = temp.path();
  struct Case {
    std::vector<std::string> args;
    int status;
  };
  const std::vector<Case> cases = {
      {{}, 2},
      {{"--dir", dir, "--no-such-option"}, 2},
      {{"--dir", dir, "--fault", "save:nonsense"}, 2},
      {{"--dir", dir, "--vault-root", "relative"}, 2},
      {{"--dir", dir, "--listen", "0.0.0.0:0"}, 2},
      {{"--dir", dir, "--listen", "[::]:0"}, 2},
      {{"--dir", dir, "--listen", "localhost:0"}, 2},
      {{"--dir", dir, "--listen", "127.0.0.1"}, 2},
      {{"--dir", dir, "--listen", "127.0.0.1:65536"}, 2},
      {{"--dir", dir, "--idle-timeout", "-1"}, 2},
      {{"--dir", dir + "/none"}, 69},
      {{"--dir", dir, "--log", dir + "/none/log"}, 69},
      {{"--dir", dir, "--credential-file", dir + "/none"}, 77},
      {{"--dir", dir, "--credential-file", dir + "/empty"}, 77},
  };
  for (const auto& [args, status] : cases) {
    const Finished finished = run_receiver(args);
    CHECK(finished.status == status);
    CHECK(finished.out.empty());
    CHECK_FALSE(finished.err.empty());
  }
}

TEST_CASE("process: a taken port is an error") {
  const Receiver receiver;
  const TempVault temp;
  const std::string address = "127.0.0.1:" + std::to_string(receiver.port());
  CHECK(run_receiver({"--dir", temp.path(), "--listen", address}).status == 69);
}

TEST_CASE("process: SIGTERM and SIGINT end it cleanly, idle connections are closed") {
  const int signal = GENERATE(SIGTERM, SIGINT);
  Receiver receiver;
  Client idle(receiver.port());
  idle.send(save(kNote, "x"));
  CHECK(idle.receive().status == 200);
  CHECK(receiver.stop(signal) == 0);
  std::string more;
  CHECK(idle.read_to_end(more) == End::kClosed);
  CHECK_THROWS(Client(receiver.port()));
}

TEST_CASE("process: SIGTERM lets what is in work finish") {
  Receiver receiver({"--fault", "save:delay=3000", "--fault", "delete:stall"});
  Client working(receiver.port());
  Client stalled(receiver.port());
  working.send(save(kNote, "x"));
  stalled.send(remove(kNote));
  REQUIRE(receiver.await_events("received", 2));
  CHECK(receiver.stop(SIGTERM) == 0);
  const Answer answer = working.receive();
  CHECK(answer.status == 200);
  CHECK(answer.headers.at("Connection") == "close");
  CHECK(read_file(receiver.dir() + "/a.md") == "x");
  CHECK(receiver.events(1) == "received applied answered");
}

TEST_CASE("process: a log that can't be written ends it") {
  Receiver receiver({"--log", "/dev/full"});
  Client client(receiver.port());
  client.send(read(kNote));
  client.receive();
  CHECK(receiver.stop(0) == 74);
}

TEST_CASE("process: it ends with its parent") {
  // The receiver becomes our child when its own parent is gone, so that its end can be waited for.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  const TempVault temp;
  std::array<int, 2> line{-1, -1};
  std::array<int, 2> hold{-1, -1};
  REQUIRE(::pipe2(line.data(), O_CLOEXEC) == 0);
  REQUIRE(::pipe2(hold.data(), O_CLOEXEC) == 0);
  const std::string binary = receiver_binary();
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    const pid_t receiver = ::fork();
    if (receiver == 0) {
      ::dup2(line[1], STDOUT_FILENO);
      ::execl(binary.c_str(), binary.c_str(), "--dir", temp.path().c_str(), "--die-with-parent", nullptr);
      ::_exit(127);
    }
    char c = 0;
    while (::read(hold[0], &c, 1) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }
  char first = 0;
  CHECK(::read(line[0], &first, 1) == 1);  // it listens
  CHECK(::write(hold[1], "x", 1) == 1);    // its parent may go
  int status = -1;
  CHECK(::waitpid(parent, &status, 0) == parent);
  CHECK(::waitpid(-1, &status, 0) > 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  for (const int fd : {line[0], line[1], hold[0], hold[1]}) ::close(fd);
}

TEST_CASE("process: a reader of the directory sees whole notes only, and no other files") {
  const Receiver receiver;
  const std::array contents{std::string(300'000, 'a'), std::string(150'000, 'b')};
  CHECK(call(receiver, save(kNote, contents[0])).status == 200);
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::atomic<int> looks = 0;
  std::thread reader([&] {
    while (!done) {
      const std::string seen = read_file(receiver.dir() + "/a.md");
      if (seen != contents[0] && seen != contents[1]) ++torn;
      ++looks;
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  Client client(receiver.port());
  for (std::size_t i = 0; i < 30; ++i) {
    client.send(save(kNote, contents[i % 2]));
    client.receive();
  }
  done = true;
  reader.join();
  CHECK(torn == 0);
  CHECK(looks > 0);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(receiver.dir())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{".vault-receiver-tmp", "a.md"});
}

TEST_CASE("process: a killed one leaves notes and a log that the next one continues") {
  const TempVault temp;
  const std::string log = temp.path() + "/log";
  for (int run = 0; run < 2; ++run) {
    Receiver receiver({"--log", log, "--sync"});
    CHECK(call(receiver, save(kNote, "x")).status == 200);
    CHECK(receiver.stop(SIGKILL) == 128 + SIGKILL);
    CHECK(read_file(receiver.dir() + "/a.md") == "x");
  }
  const std::string text = read_file(log);
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
}

}  // namespace
}  // namespace intray::vault_receiver
