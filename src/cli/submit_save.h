// Purpose:    `intray submit save`: SAVE jobs for notes of a git repository.
// Process:    the requester.
// Thread use: one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/sender.h"

namespace intray::cli {

struct SubmitSaveOptions {
  SubmitOptions common;
  std::string repository;  // "": the site's mirror
  std::string commit = "HEAD";
  std::vector<std::string> paths;
  bool all = false;
  std::string object_id;
  std::string mission;
  std::string idempotency_key;
  std::vector<std::string> branches;  // where the site's settings can't be read, or in their place
  std::string vault_root;
  std::string prefix;
};

int run_submit_save(Console& console, const SubmitSaveOptions& options);

}  // namespace intray::cli
