#include "cli/wait.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/words.h"
#include "config/units.h"

namespace intray::cli {
namespace {

constexpr std::int64_t kLinesOnTerminalMax = 20;

}  // namespace

std::optional<base::Micros> parse_wait(const std::string& text) {
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return config::parse_duration(digits ? text + "s" : text);
}

void Wait::add(const base::JobId& id, const base::Sha256& sha256, base::WallTime created) {
  waiter_.add(id, sha256, created);
}

void Wait::print_news(Console& console, bool brief) {
  for (; waiter_.news() != nullptr; waiter_.drop_news()) {
    const model::Receipt& r = *waiter_.news();
    if (!printed_.insert(*r.job_id).second) continue;
    if (console.json) {
      console.out << model::to_line(r) << '\n';
      continue;
    }
    if (brief && r.state == model::State::kSucceeded) continue;
    const std::string why(r.reason ? model::to_word(*r.reason) : model::to_word(r.result));
    console.out << r.job_id->str() << "  " << console.paint(colour_of(r.state), model::to_word(r.state)) << "  " << why;
    if (r.evidence.detail && !r.evidence.detail->empty()) console.out << ": " << *r.evidence.detail;
    console.out << '\n';
  }
  console.out.flush();
}

int Wait::verdict(Console& console) const {
  int code = kDone;
  std::map<model::State, std::int64_t> by_state;
  for (const auto& [id, job] : waiter_.jobs()) {
    const auto state = job.receipt ? std::optional(job.receipt->state) : std::nullopt;
    if (state) ++by_state[*state];
    code = worse_wait(code, exit_code_of(state));
  }
  const std::int64_t open = waiter_.size() - waiter_.ended();
  if (waiter_.size() > 1 || open > 0) {
    std::string text;
    for (const auto& [state, number] : by_state)
      text += (text.empty() ? "" : ", ") + with_commas(number) + " " +
              (state == model::State::kUnknown ? "unknown" : lower(model::to_word(state)));
    if (open > 0) text += (text.empty() ? "" : ", ") + with_commas(open) + " not ended in time";
    complain(console, count(waiter_.size(), "job") + ": " + text);
  }
  return code;
}

int Wait::run(Console& console, const std::string& root, model::JobKind kind, std::optional<base::Micros> limit) {
  if (const auto opened = waiter_.open(root, kind); !opened) {
    complain(console, opened.error());
    return exit_code_of(opened.error());
  }
  Progress progress(console, "ended", waiter_.size());
  const bool brief = console.out_is_terminal && waiter_.size() > kLinesOnTerminalMax;
  const base::BootTime start = console.clock.boot();
  while (true) {
    const auto news = waiter_.poll();
    if (!news) {
      progress.clear();
      complain(console, news.error());
      return exit_code_of(news.error());
    }
    if (*news) {
      progress.clear();
      print_news(console, brief);
    }
    progress.update(waiter_.ended());
    if (waiter_.all_ended()) break;
    const base::Micros spent = console.clock.boot() - start;
    if (limit && spent >= *limit) break;
    waiter_.pause(limit ? *limit - spent : base::Micros::max());
  }
  progress.clear();
  return verdict(console);
}

}  // namespace intray::cli
