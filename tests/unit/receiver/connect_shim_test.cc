#include "receiver/connect_shim.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>

#include "limits.h"
#include "scripted_server.h"
#include "sys/fd.h"

namespace intray::test {
namespace {

int call_connect(int fd, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  errno = 0;
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

TEST_CASE("connect() refuses every descriptor that was not handed over, without dialling") {
  ScriptedServer server([](ScriptedServer&, Peer&) {});
  const sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto before = receiver::shim_counts();
  CHECK(call_connect(fd.get(), server.port()) == -1);
  CHECK(errno == EACCES);
  CHECK(call_connect(-1, server.port()) == -1);
  CHECK(errno == EACCES);
  CHECK(receiver::shim_counts().refused == before.refused + 2);
  ::usleep(30'000);
  CHECK(server.connections() == 0);
}

TEST_CASE("connect() answers for a remembered descriptor until it is forgotten, and never enters the kernel") {
  ScriptedServer server([](ScriptedServer&, Peer&) {});
  const sys::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(receiver::remember_connected(fd.get()));
  CHECK(call_connect(fd.get(), server.port()) == 0);
  receiver::forget_connected(fd.get());
  CHECK(call_connect(fd.get(), server.port()) == -1);
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  CHECK(::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == -1);
  CHECK(errno == ENOTCONN);
  ::usleep(30'000);
  CHECK(server.connections() == 0);
}

TEST_CASE("descriptor numbers out of range are refused") {
  CHECK_FALSE(receiver::remember_connected(-1));
  CHECK_FALSE(receiver::remember_connected(static_cast<int>(limits::kDescriptorsMax)));
  receiver::forget_connected(-1);
}

TEST_CASE("the self-test passes with the libcurl at hand, again and again") {
  const auto before = receiver::shim_counts();
  CHECK(receiver::shim_works(true));
  CHECK(receiver::shim_works(true));
  CHECK(receiver::shim_counts().refused == before.refused);
}

}  // namespace
}  // namespace intray::test
