// Purpose:    opens everything an executor needs, in the one order that is safe, and hands it to the worker.
// Process:    executors, before any work.
// Trust:      configuration, policy, credential and CA are root's; a wrong one stops the start with its own exit code.
// The
//             connector is spawned before the credential is read, so that no secret is ever in its memory. The slot's
//             flock is taken after that, the last fork.
// Thread use: one thread.
//
//   settings ─► refuse root ─► inbox ─► connector spawned ─► slot's flock ─► ledger ─► identity lease ─► source ─►
//   credential ─► event loop, pool, client ─► worker
#pragma once

#include <optional>
#include <string>

#include "executor/worker.h"
#include "model/state.h"

namespace intray::executor {

struct StartOptions {
  model::JobKind kind = model::JobKind::kSave;
  std::string config_file;
  std::string program_dir;  // where this binary lies: intray-connector is looked for there
  bool once = false;
  bool user_mode = false;
};

// Runs the executor to its end; returns its exit code. Everything is logged; nothing throws.
Exit run_save(const StartOptions& options);

}  // namespace intray::executor
