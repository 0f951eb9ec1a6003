// Purpose:    the command line.
// Trust:      the operator's.
// Thread use: once, at start.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "vault-receiver/bounds.h"
#include "vault-receiver/faults.h"

namespace intray::vault_receiver {

struct Options {
  std::string listen = "127.0.0.1:0";
  bool listen_any = false;
  std::string dir;
  std::string vault_root = "/app/vault";
  std::string credential_file;  // empty: no check
  std::string log;              // empty: none
  std::string fault_file;       // empty: none
  std::vector<Fault> faults;
  bool sync = false;
  bool die_with_parent = false;
  std::chrono::milliseconds idle = kIdleDefault;
  std::size_t connections_max = kConnectionsDefault;
};

enum class CommandLine { kRun, kDone, kUsage };

// kDone: --help or --version was printed. kUsage: what is wrong was printed on stderr.
CommandLine read_command_line(int argc, char** argv, Options& options);

}  // namespace intray::vault_receiver
