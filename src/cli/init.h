// Purpose:    `intray init`: makes a site: directories, settings, lease policy.
// Process:    root, or any user with --user-mode.
// Trust:      never overwrites a file and never widens a mode: what is there and wrong is reported.
// Thread use: one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"

namespace intray::cli {

struct InitOptions {
  std::string root;
  std::string config_dir;  // "": /etc/intray, or ROOT/etc in user mode
  bool user_mode = false;
  std::string receiver;
  std::string credential;
  std::string ca_file;
  std::string mirror;
  std::vector<std::string> branches;
  std::string tenant;
  std::string site_namespace;
  std::vector<std::string> requesters;  // user names or numbers
  std::vector<std::string> set;         // KEY=VALUE
};

int run_init(Console& console, const InitOptions& options);

}  // namespace intray::cli
