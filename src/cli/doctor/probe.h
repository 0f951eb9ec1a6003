// Purpose:    tries every cell of the matrix on this machine.
// Process:    root, so that it can become each user; otherwise only what this user can try.
// Trust:      what the kernel answers, nothing else. Tries leave nothing behind (sys/attempt.h); scratch files lie in
//             <root>/<kind>/.doctor and are gone afterwards.
// Thread use: one thread; children are forked.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/doctor/report.h"
#include "cli/doctor/scene.h"
#include "sys/dir.h"

namespace intray::cli::doctor {

// The place for what the tries need: made, locked, and gone with this object. What a killed run left is cleared first.
class Scratch {
 public:
  // kBusy: another doctor is at work here.
  static base::Result<Scratch> make(const std::string& inbox);
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  const std::string& path() const { return path_; }

 private:
  Scratch(std::string path, sys::Dir dir) : path_(std::move(path)), dir_(std::move(dir)) {}
  std::string path_;
  sys::Dir dir_;  // holds the lock
};

// Cells in the order of kMatrix. kBusy as above; other errors: the scratch place can't be made.
base::Result<std::vector<CellRow>> probe(const Scene& scene);

// What a set of answers means for one cell. Pure; `errors` are errnos of what was refused.
struct Answers {
  int allowed = 0;
  int refused = 0;
  int unclear = 0;  // failed for another reason than a right: proves nothing
  std::string first_allowed = {};
  std::string first_refused = {};
  std::string first_unclear = {};
};
Cell judge(Expect expect, const Answers& answers, const std::string& none);

}  // namespace intray::cli::doctor
