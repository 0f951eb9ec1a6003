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
  kExitOk = 0,            // the channel was closed: the executor is gone
  kExitUsage = 64,        // wrong options, or no channel
  kExitMalformed = 65,    // a request other than the one byte 'C'
  kExitUnresolved = 68,   // the host has no address
  kExitNotConfined = 70,  // the lock-down failed, or would be weaker than asked for
  kExitSystem = 71,       // a system call failed that must not
  kExitStranger = 77,     // the other end of the channel is not --peer-user
};

struct Options {
  const char* address = nullptr;  // "HOST:PORT"
  int channel = 3;
  int connect_timeout_ms = 5'000;
  int dials_in_flight = 64;         // what is beyond waits in the channel
  int dials_per_minute = 60'000;    // what is beyond is answered 'E'
  const char* peer_user = nullptr;  // name or number of the user who must be at the other end; nullptr: not checked
  bool allow_reduced = false;       // starts where the kernel has no Landlock
};

// "--name value" or "--name=value"; --allow-reduced takes none. Returns false after saying on stderr what is wrong.
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

// Who made the channel is who the kernel says, by SO_PEERCRED. True: it is --peer-user, or none was asked for. Opens
// files.
bool is_expected_peer(const Options& options);

// One line on stderr: "intray-connector: <what>[: <detail>]".
void complain(const char* what, const char* detail = nullptr);

}  // namespace intray::connector
