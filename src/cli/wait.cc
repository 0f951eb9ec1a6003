#include "cli/wait.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "cli/exit_code.h"
#include "cli/progress.h"
#include "cli/receipt_tail.h"
#include "cli/text.h"
#include "cli/words.h"
#include "config/units.h"
#include "sys/change_watch.h"

namespace intray::cli {
namespace {

constexpr base::Micros kLookAnyway = std::chrono::seconds{2};         // behind the events
constexpr base::Micros kPauseFirst = std::chrono::milliseconds{100};  // without events: doubles up to kLookAnyway
constexpr base::Micros kPauseBusy = std::chrono::milliseconds{20};    // gathers what a busy executor appends
constexpr base::Micros kClockSkew = std::chrono::hours{1};  // between requester and executor, as far as days go
constexpr std::size_t kLinesOnTerminalMax = 20;

}  // namespace

std::optional<base::Micros> parse_wait(const std::string& text) {
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return config::parse_duration(digits ? text + "s" : text);
}

void Wait::add(const base::JobId& id, const base::Sha256& sha256, base::WallTime created) {
  jobs_.insert_or_assign(id, Pending{.sha256 = sha256, .receipt = std::nullopt});
  oldest_ = std::min(oldest_, created);
}

bool Wait::note(const model::Receipt& receipt) {
  if (!receipt.job_id || !receipt.job_sha256) return false;
  const auto found = jobs_.find(*receipt.job_id);
  if (found == jobs_.end() || found->second.sha256 != *receipt.job_sha256) return false;
  auto& known = found->second.receipt;
  const bool first = !known;
  // A person's resolution issues a further receipt: the last word counts.
  if (!known || known->audit_seq < receipt.audit_seq) known = receipt;
  if (first) ++ended_;
  return first;
}

void Wait::print_new(Console& console, bool brief) {
  for (auto& [id, job] : jobs_) {
    if (!job.receipt || job.printed) continue;
    job.printed = true;
    const model::Receipt& r = *job.receipt;
    if (console.json) {
      console.out << model::to_line(r) << '\n';
      continue;
    }
    if (brief && r.state == model::State::kSucceeded) continue;
    const std::string why(r.reason ? model::to_word(*r.reason) : model::to_word(r.result));
    console.out << id.str() << "  " << console.paint(colour_of(r.state), model::to_word(r.state)) << "  " << why;
    if (r.evidence.detail && !r.evidence.detail->empty()) console.out << ": " << *r.evidence.detail;
    console.out << '\n';
  }
  console.out.flush();
}

int Wait::verdict(Console& console) const {
  int code = kDone;
  std::map<model::State, std::int64_t> by_state;
  for (const auto& [id, job] : jobs_) {
    const auto state = job.receipt ? std::optional(job.receipt->state) : std::nullopt;
    if (state) ++by_state[*state];
    code = worse_wait(code, exit_code_of(state));
  }
  const auto open = static_cast<std::int64_t>(jobs_.size()) - ended_;
  if (jobs_.size() > 1 || open > 0) {
    std::string text;
    for (const auto& [state, number] : by_state)
      text += (text.empty() ? "" : ", ") + with_commas(number) + " " +
              (state == model::State::kUnknown ? "unknown" : lower(model::to_word(state)));
    if (open > 0) text += (text.empty() ? "" : ", ") + with_commas(open) + " not ended in time";
    complain(console, count(static_cast<std::int64_t>(jobs_.size()), "job") + ": " + text);
  }
  return code;
}

int Wait::run(Console& console, const std::string& root, model::JobKind kind, std::optional<base::Micros> limit) {
  auto dir = sys::Dir::open(root + "/" + std::string(model::to_word(kind)) + "/receipts");
  if (!dir) {
    complain(console, dir.error());
    return exit_code_of(dir.error());
  }
  auto opened = sys::ChangeWatch::open(*dir);
  sys::ChangeWatch watch = opened ? std::move(*opened) : sys::ChangeWatch();
  ReceiptTail tail(std::move(*dir), oldest_ - kClockSkew);
  Progress progress(console, "ended", static_cast<std::int64_t>(jobs_.size()));
  const bool brief = console.out_is_terminal && jobs_.size() > kLinesOnTerminalMax;
  const base::BootTime start = console.clock.boot();
  base::Micros pause = kPauseFirst;
  while (true) {
    bool news = false;
    const auto read = tail.read([&](const model::Receipt& receipt) { news = note(receipt) || news; });
    if (!read) {
      progress.clear();
      complain(console, read.error());
      return exit_code_of(read.error());
    }
    if (news) {
      progress.clear();
      print_new(console, brief);
    }
    progress.update(ended_);
    if (ended_ == static_cast<std::int64_t>(jobs_.size())) break;
    const base::Micros spent = console.clock.boot() - start;
    if (limit && spent >= *limit) break;
    pause = news ? kPauseFirst : std::min(pause * 2, kLookAnyway);
    base::Micros at_most = watch.live() ? kLookAnyway : pause;
    if (limit) at_most = std::min(at_most, *limit - spent);
    if (watch.wait(at_most)) std::this_thread::sleep_for(kPauseBusy);
  }
  progress.clear();
  return verdict(console);
}

}  // namespace intray::cli
