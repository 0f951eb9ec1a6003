// Purpose:    what intray-connector was told on its command line, and the one address that it will ever dial.
// Process:    intray-connector. No allocation by us, no exceptions; libc only.
// Trust:      the command line is the spawner's. Nothing that comes over the channel changes any of this.
// Thread use: one thread.
#pragma once

#include <sys/socket.h>

#include <cstdint>

namespace intray::connector {

inline constexpr int kDialsInFlightMax = 1024;  // slots in static memory
inline constexpr int kOptionIntegerMax = 1'000'000'000;

enum ExitCode : int {
  kExitOk = 0,           // the channel was closed: the executor is gone
  kExitUsage = 64,       // wrong options, or no channel
  kExitMalformed = 65,   // a request other than the one byte 'C'
  kExitUnresolved = 68,  // the host has no address
  kExitSystem = 71,      // a system call failed that must not
};

struct Options {
  const char* address = nullptr;  // "HOST:PORT"
  int channel = 3;
  int connect_timeout_ms = 5'000;
  int dials_in_flight = 64;       // what is beyond waits in the channel
  int dials_per_minute = 60'000;  // what is beyond is answered 'E'
};

// Every option takes a value: "--name value" or "--name=value". Returns false after saying on stderr what is wrong.
// --help and --version print and exit.
bool parse_options(int count, char** arguments, Options& options);

struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  int family() const { return storage.ss_family; }
};

// The first address of HOST:PORT. False where there is none (said on stderr). Opens files and sockets, and allocates:
// once, at start.
bool pin_address(const char* host_and_port, Address& address);

// One line on stderr: "intray-connector: <what>[: <detail>]".
void complain(const char* what, const char* detail = nullptr);

}  // namespace intray::connector
