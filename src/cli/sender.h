// Purpose:    hands jobs over, one by one or in batches, and tells about each.
// Process:    the requester.
// Durability: a job is reported as handed over only after inbox/handoff.h says so.
// Thread use: one thread; a batch is synced by several inside.
#pragma once

#include <string>
#include <vector>

#include "base/hash.h"
#include "cli/console.h"
#include "cli/progress.h"
#include "cli/wait.h"
#include "config/settings.h"
#include "inbox/handoff.h"
#include "model/state.h"

namespace intray::cli {

// What every form of `submit` takes.
struct SubmitOptions {
  std::string root;
  bool batch = false;
  bool dry_run = false;  // prints the canonical bytes, one job a line, and hands nothing over
  bool force = false;    // hands over what our own checks refuse too
  bool wait = false;
  std::string wait_for;  // "": as long as it takes
};

struct Outgoing {
  inbox::JobName name;
  std::string bytes;  // canonical
  std::string label;  // for people: the note or the file, escaped
};

class Sender {
 public:
  // total 0: not known.
  Sender(Console& console, const SubmitOptions& options, std::string root, std::int64_t total);

  // Whether this user's files are taken at all, by what is known of the site; told to `err` where not, and then nothing
  // is handed over unless by force.
  bool user_may(const base::Result<config::Settings>& settings);
  // Hands over now, or with the next full batch. Failures are told to `err` and kept for exit_code().
  void send(model::JobKind kind, Outgoing job);
  // A job that our own checks refuse: told, and not handed over.
  void refuse(const std::string& label, std::string_view reason, const std::string& detail);
  // Hands over what is left, waits where asked to, and returns how the command ends.
  int finish();

 private:
  struct Box {
    model::JobKind kind;
    std::optional<inbox::DropBox> box;
    bool failed = false;
    std::vector<Outgoing> pending;
    Wait wait;
  };
  Box& box_of(model::JobKind kind);
  void flush(Box& box);
  void report(Box& box, const Outgoing& job, const base::Result<void>& result);

  Console& console_;
  const SubmitOptions& options_;
  std::string root_;
  Progress progress_;
  std::vector<Box> boxes_;
  std::int64_t sent_ = 0;
  std::int64_t refused_ = 0;
  int code_ = 0;
};

}  // namespace intray::cli
