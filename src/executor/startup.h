// Purpose:    opens everything an executor needs, in the one order that is safe, and hands it to the worker.
// Process:    executors, before any work.
// Trust:      configuration, policy, credential and CA are root's; a wrong one stops the start with its own exit code.
// The
//             connector and the self-test's children are forked before the credential is read, so that no secret is
//             ever in their memory, and before the slot's flock. Nothing of a job or an answer is read before
//             lock-down.
// Thread use: one thread.
//
//   settings ─► refuse root ─► inbox ─► event loop ─► connector ─► denials proved in children ─► slot's flock ─►
//   ledger ─► identity lease ─► source ─► credential ─► pool, client ─► watches, signals ─► lock-down ─► proofs ─► work
#pragma once

#include <optional>
#include <string>

#include "executor/worker.h"
#include "model/state.h"

namespace intray::executor {

struct StartOptions {
  model::JobKind kind = model::JobKind::kSave;
  std::string config_file;
  std::string program_dir;   // where this binary lies: intray-connector is looked for there
  std::string program_file;  // this binary
  sys::Notifier notifier;    // taken from the environment before that was cleared
  bool once = false;
  bool self_test = false;  // lock down, prove it, print the findings as JSON, work on nothing
  bool user_mode = false;
};

// Runs the executor to its end. Returns the exit code of a start that failed before lock-down; from there on the
// process ends in here (sys::leave). Everything is logged; nothing throws.
Exit run_save(const StartOptions& options);

}  // namespace intray::executor
