#include "intray-connector/options.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace intray::connector {
namespace {

constexpr const char* kUsage =
    "Usage: intray-connector --address HOST:PORT [--channel FD] [--connect-timeout-ms N]\n"
    "                        [--dials-in-flight N] [--dials-per-minute N] [--peer-user USER] [--allow-reduced]\n"
    "\n"
    "Answers each byte 'C' on the channel with 'K' and a connection to the one address, or with 'E'.\n"
    "It is started by an executor; see intray-connector(8).\n";

void print(int fd, const char* text) {
  const std::size_t size = std::strlen(text);
  if (::write(fd, text, size) != static_cast<ssize_t>(size)) ::_exit(kExitSystem);
}

bool parse_integer(const char* text, int low, int high, int& out) {
  if (*text < '0' || *text > '9') return false;
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (*end != '\0' || value < static_cast<unsigned long long>(low) || value > static_cast<unsigned long long>(high))
    return false;
  out = static_cast<int>(value);
  return true;
}

struct IntegerOption {
  const char* name;
  int Options::*member;
  int low;
  int high;
};

constexpr std::array<IntegerOption, 4> kIntegers{{
    {"--channel", &Options::channel, 0, 65'535},
    {"--connect-timeout-ms", &Options::connect_timeout_ms, 1, 600'000},
    {"--dials-in-flight", &Options::dials_in_flight, 1, kDialsInFlightMax},
    {"--dials-per-minute", &Options::dials_per_minute, 1, kOptionIntegerMax},
}};

// Where `argument` is `name` or starts with "name=": its value, which may be the next argument.
const char* value_of(const char* name, char** arguments, int count, int& at) {
  const char* const argument = arguments[at];
  const std::size_t size = std::strlen(name);
  if (std::strncmp(argument, name, size) != 0) return nullptr;
  if (argument[size] == '=') return argument + size + 1;
  if (argument[size] != '\0' || at + 1 >= count) return nullptr;
  return arguments[++at];
}

bool parse_one(char** arguments, int count, int& at, Options& options) {
  const char* const argument = arguments[at];
  if (const char* const value = value_of("--address", arguments, count, at)) {
    options.address = value;
    return true;
  }
  if (const char* const value = value_of("--peer-user", arguments, count, at)) {
    options.peer_user = value;
    return true;
  }
  if (std::strcmp(argument, "--allow-reduced") == 0) return options.allow_reduced = true;
  for (const IntegerOption& option : kIntegers) {
    const char* const value = value_of(option.name, arguments, count, at);
    if (value == nullptr) continue;
    if (parse_integer(value, option.low, option.high, options.*option.member)) return true;
    complain("value out of range", argument);
    return false;
  }
  complain("unknown option, or one without its value", argument);
  return false;
}

}  // namespace

void complain(const char* what, const char* detail) {
  std::array<char, 512> line{};
  const int size = detail == nullptr
                       ? std::snprintf(line.data(), line.size(), "intray-connector: %s\n", what)
                       : std::snprintf(line.data(), line.size(), "intray-connector: %s: %s\n", what, detail);
  if (size <= 0) return;
  const auto bytes = static_cast<std::size_t>(size) < line.size() ? static_cast<std::size_t>(size) : line.size() - 1;
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), bytes);
}

bool parse_options(int count, char** arguments, Options& options) {
  for (int at = 1; at < count; ++at) {
    if (std::strcmp(arguments[at], "--help") == 0) print(STDOUT_FILENO, kUsage), ::_exit(kExitOk);
    if (std::strcmp(arguments[at], "--version") == 0)
      print(STDOUT_FILENO, "intray-connector " INTRAY_VERSION "\n"), ::_exit(kExitOk);
    if (!parse_one(arguments, count, at, options)) return false;
  }
  if (options.address != nullptr) return true;
  complain("--address HOST:PORT is missing");
  return false;
}

bool is_expected_peer(const Options& options) {
  if (options.peer_user == nullptr) return true;
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(options.channel, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
    complain("the channel doesn't say who is there");
    return false;
  }
  int uid = -1;
  if (!parse_integer(options.peer_user, 0, INT_MAX, uid)) {
    const passwd* const entry = ::getpwnam(options.peer_user);  // NOLINT(concurrency-mt-unsafe): one thread
    if (entry == nullptr) {
      complain("no such user", options.peer_user);
      return false;
    }
    uid = static_cast<int>(entry->pw_uid);
  }
  if (peer.uid == static_cast<uid_t>(uid)) return true;
  complain("the channel is not from", options.peer_user);
  return false;
}

bool pin_address(const char* host_and_port, Address& address) {
  const char* const colon = std::strrchr(host_and_port, ':');
  std::array<char, 256> host{};
  const auto host_bytes = colon == nullptr ? 0 : static_cast<std::size_t>(colon - host_and_port);
  if (host_bytes == 0 || host_bytes >= host.size()) {
    complain("not HOST:PORT", host_and_port);
    return false;
  }
  const bool bracketed = host_bytes > 2 && host_and_port[0] == '[' && colon[-1] == ']';
  std::memcpy(host.data(), host_and_port + (bracketed ? 1 : 0), host_bytes - (bracketed ? 2 : 0));
  int port = 0;
  if (!parse_integer(colon + 1, 1, 65'535, port)) {
    complain("not a port", colon + 1);
    return false;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.data(), colon + 1, &hints, &found); error != 0) {
    complain(host_and_port, ::gai_strerror(error));
    return false;
  }
  const bool fits = found->ai_addrlen <= sizeof address.storage;
  if (fits) {
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.bytes = found->ai_addrlen;
  }
  ::freeaddrinfo(found);
  return fits;
}

}  // namespace intray::connector
