#include "cli/progress.h"

#include <fmt/format.h>

#include <ostream>

#include "cli/text.h"

namespace intray::cli {
namespace {

constexpr base::Micros kFirst = std::chrono::milliseconds{500};  // what is over sooner needs no line
constexpr base::Micros kEvery = std::chrono::milliseconds{200};

}  // namespace

std::string progress_text(const std::string& verb, std::int64_t done, std::int64_t total, base::Micros elapsed) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string out = total > 0 ? fmt::format("{} of {} {}", with_commas(done), with_commas(total), verb)
                              : with_commas(done) + " " + verb;
  if (rate >= 10) {
    out += fmt::format(", {}/s", with_commas(static_cast<std::int64_t>(rate)));
  } else if (rate > 0) {
    out += fmt::format(", {:.1f}/s", rate);
  }
  if (rate > 0 && total > done)
    out += ", " + age(std::chrono::seconds{static_cast<std::int64_t>(static_cast<double>(total - done) / rate) + 1}) +
           " left";
  return out;
}

Progress::Progress(Console& console, std::string verb, std::int64_t total)
    : console_(console), verb_(std::move(verb)), total_(total), start_(console.clock.boot()) {}

void Progress::update(std::int64_t done) {
  if (!console_.err_is_terminal) return;
  const base::BootTime now = console_.clock.boot();
  if (now - start_ < kFirst || now - shown_ < kEvery) return;
  shown_ = now;
  visible_ = true;
  console_.err << "\r\x1b[K" << progress_text(verb_, done, total_, now - start_) << std::flush;
}

void Progress::clear() {
  if (visible_) console_.err << "\r\x1b[K" << std::flush;
  visible_ = false;
}

}  // namespace intray::cli
