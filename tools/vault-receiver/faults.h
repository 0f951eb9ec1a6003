// Purpose:    faults on request: what a bad receiver or a bad network does, switched on by tests.
// Trust:      specifications come from the operator (command line, control file), never from clients.
// Thread use: one thread.
//
// SPEC = <save|delete|content|search|any>:<what>[:modifier …]
//   not applied: cut-before reset-before status=CODE html stall lie
//   applied:     cut-after reset-after cut-body status-after=CODE body=TEXT mangle stall-after twice flood flood-head
//                garbage
//   and:         delay=MS (before it is applied)  delay-answer=MS (after)
// Modifiers: every=N (each N-th), count=N (N times at most), skip=N (not the first N), path=SUBSTR (only paths that
// contain it), retry-after=VALUE (header for status and status-after). A ':' inside TEXT, SUBSTR or VALUE is taken
// literally unless a modifier's name and '=' follow it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vault-receiver/kind.h"

namespace intray::vault_receiver {

enum class What {
  kDelay,
  kDelayAnswer,
  kCutBefore,    // read the whole request, then close
  kCutAfter,     // apply, then close without an answer
  kCutBody,      // apply, send the head and half of the body, then close
  kResetBefore,  // as kCutBefore, by RST
  kResetAfter,   // as kCutAfter, by RST
  kStatus,       // answer CODE, not applied
  kStatusAfter,  // apply, answer CODE
  kBody,         // apply, answer 200 with TEXT
  kHtml,         // answer 200 with an HTML page, not applied
  kStall,        // never answer, not applied
  kStallAfter,   // apply, never answer
  kLie,          // the answer of a success, not applied
  kMangle,       // save other bytes than those sent
  kTwice,        // apply, send the answer two times
  kFlood,        // apply, answer 200 with a body of kFloodBytes
  kFloodHead,    // apply, answer 200 with headers of kFloodBytes
  kGarbage,      // apply, send bytes that are not HTTP, then close
};

struct Fault {
  std::string spec;
  std::optional<Kind> kind;  // none: any
  What what = What::kDelay;
  std::int64_t number = 0;  // milliseconds, or the status
  std::string text;
  std::string retry_after;
  std::string path_part;
  std::uint64_t every = 1;
  std::optional<std::uint64_t> count;
  std::uint64_t skip = 0;
};

// Errors: kInvalid with what is wrong.
base::Result<Fault> parse_fault(std::string_view spec);

// What happens to one request: delays add up; of the others the first that fires wins.
struct FaultAction {
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds delay_answer{0};
  std::optional<Fault> fault;
  std::string specs;  // of all that fired, separated by blanks
};

class FaultPlan {
 public:
  void add(Fault fault) { fixed_.push_back(Counted{std::move(fault)}); }
  // A control file with one SPEC a line ('#' begins a comment line). It is looked at before each decision; when it
  // changed, its faults are read anew and count from zero. No file: no faults. An invalid line: a warning in the
  // process log, and the faults before the change stay. Replace the file by rename, so that no half is ever read.
  void set_file(std::string path) { file_ = std::move(path); }

  // Counts the request in every fault that matches it.
  FaultAction decide(Kind kind, std::string_view path);

 private:
  struct Counted {
    Fault fault;
    std::uint64_t seen = 0;
    std::uint64_t fired = 0;

    bool fires();
  };

  void reread_file();

  std::vector<Counted> fixed_;
  std::vector<Counted> from_file_;
  std::string file_;
  std::string file_identity_;
};

}  // namespace intray::vault_receiver
