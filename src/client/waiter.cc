#include "client/waiter.h"

#include <algorithm>
#include <thread>

namespace intray::client {
namespace {

constexpr base::Micros kLookAnyway = std::chrono::seconds{2};       // behind the events
constexpr base::Micros kPauseBusy = std::chrono::milliseconds{20};  // gathers what a busy executor appends
constexpr base::Micros kClockSkew = std::chrono::hours{1};          // between requester and executor, as far as days go

}  // namespace

void Waiter::add(const base::JobId& id, const base::Sha256& sha256, base::WallTime created) {
  const auto [place, is_new] = jobs_.try_emplace(id, Awaited{.sha256 = sha256, .receipt = std::nullopt});
  if (!is_new && place->second.sha256 != sha256) {  // other bytes under this id: only these are asked for from now on
    if (place->second.receipt) --ended_;
    news_.erase(id);
    place->second = {.sha256 = sha256, .receipt = std::nullopt};
  }
  oldest_ = std::min(oldest_, created);
}

bool Waiter::note(const model::Receipt& receipt) {
  if (!receipt.job_id || !receipt.job_sha256) return false;
  const auto found = jobs_.find(*receipt.job_id);
  if (found == jobs_.end() || found->second.sha256 != *receipt.job_sha256) return false;
  auto& known = found->second.receipt;
  // A person's resolution issues a further receipt: the last word counts. A crash repeats lines: those are no news.
  if (known && known->audit_seq >= receipt.audit_seq) return false;
  const bool first = !known;
  model::Receipt copy = receipt;  // out of memory now or in the next line: nothing has changed
  news_.insert(*receipt.job_id);
  known = std::move(copy);
  if (first) ++ended_;
  return first;
}

base::Result<void> Waiter::open(const std::string& root, model::JobKind kind) {
  auto dir = INTRAY_TRY(sys::Dir::open(root + "/" + std::string(model::to_word(kind)) + "/receipts"));
  if (auto watch = sys::ChangeWatch::open(dir)) watch_ = std::move(*watch);
  // What is far in the past is no day that a file could have.
  const base::WallTime since = oldest_ == base::WallTime::max() || oldest_ < base::WallTime{kClockSkew}
                                   ? base::WallTime{}
                                   : oldest_ - kClockSkew;
  tail_.emplace(std::move(dir), since);
  return {};
}

base::Result<bool> Waiter::poll() {
  const std::size_t before = news_.size();
  INTRAY_TRY(tail_->read([&](const model::Receipt& receipt) { note(receipt); }));
  const bool news = news_.size() > before;
  if (news) pause_ = kPauseFirst;
  return news;
}

void Waiter::pause(base::Micros at_most) {
  const base::Micros look = watch_.live() ? kLookAnyway : pause_;
  pause_ = std::min(pause_ * 2, kLookAnyway);
  if (watch_.wait(std::min(at_most, look))) std::this_thread::sleep_for(std::min(at_most, kPauseBusy));
}

const model::Receipt* Waiter::news() const { return news_.empty() ? nullptr : &*jobs_.at(*news_.begin()).receipt; }

void Waiter::drop_news() { news_.erase(news_.begin()); }

}  // namespace intray::client
