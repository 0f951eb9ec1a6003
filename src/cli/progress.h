// Purpose:    how far long work has come: done, total, rate, time left; on a terminal only, on one line that erases
//             itself.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "cli/console.h"

namespace intray::cli {

class Progress {
 public:
  // `verb`: "handed over", "ended". total 0: not known.
  Progress(Console& console, std::string verb, std::int64_t total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::int64_t done);
  void clear();  // before anything else is printed

 private:
  Console& console_;
  std::string verb_;
  std::int64_t total_;
  base::BootTime start_;
  base::BootTime shown_{};
  bool visible_ = false;
};

// "1,200 of 4,000 handed over, 300/s, 9s left"; without a total "1,200 handed over, 300/s".
std::string progress_text(const std::string& verb, std::int64_t done, std::int64_t total, base::Micros elapsed);

}  // namespace intray::cli
