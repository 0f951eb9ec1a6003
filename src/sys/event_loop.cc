#include "sys/event_loop.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "limits.h"
#include "sys/call.h"
#include "sys/fd.h"

namespace intray::sys {
namespace {

using base::BootTime;
using base::Micros;

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kNanosPerMicro = 1000;
constexpr std::int64_t kMicrosPerMilli = 1000;

struct Registration {
  EventLoop::OnReady on_ready;
  std::uint32_t generation = 0;
};

std::uint32_t interest(bool read, bool write) {
  return (read ? static_cast<std::uint32_t>(EPOLLIN) : 0U) | (write ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
}

class EpollLoop final : public EventLoop {
 public:
  EpollLoop(Fd epoll, Fd timer, Fd signals)
      : epoll_(std::move(epoll)), timer_(std::move(timer)), signals_(std::move(signals)) {}

  base::Result<void> start() {
    if (auto watched = watch(timer_.get(), true, false, [](Ready) {}); !watched) return watched;
    return watch(signals_.get(), true, false, [this](Ready) { deliver_signals(); });
  }

  base::Result<void> watch(int fd, bool read, bool write, OnReady on_ready) override {
    if (fd < 0) return base::fail(base::ErrorCode::kInvalid, "watch of no descriptor");
    const auto index = static_cast<std::size_t>(fd);
    if (registrations_.size() <= index) registrations_.resize(index + 1);
    const std::uint32_t generation = ++last_generation_;
    if (auto set = control(fd, read, write, generation, registrations_[index] != nullptr); !set) return set;
    registrations_[index] = std::make_shared<Registration>(Registration{std::move(on_ready), generation});
    return {};
  }

  base::Result<void> change(int fd, bool read, bool write) override {
    const Registration* const known = find(fd);
    if (known == nullptr)
      return base::fail(base::ErrorCode::kNotFound, "descriptor " + std::to_string(fd) + " is not watched");
    return control(fd, read, write, known->generation, true);
  }

  void forget(int fd) override {
    if (find(fd) == nullptr) return;
    // Fails only where the descriptor is closed already, and then the kernel forgot it by itself.
    static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr));
    registrations_[static_cast<std::size_t>(fd)].reset();
  }

  TimerId after(Micros delay, OnTimer on_timer) override {
    const TimerId id = ++last_timer_;
    const BootTime when = clock_.boot() + std::max(delay, Micros{0});
    timers_.emplace(std::pair(when, id), std::move(on_timer));
    due_of_.emplace(id, when);
    return id;
  }

  void cancel(TimerId id) override {
    const auto found = due_of_.find(id);
    if (found == due_of_.end()) return;
    timers_.erase({found->second, id});
    due_of_.erase(found);
  }

  base::Result<void> on_signals(const std::vector<int>& signals, std::function<void(int)> on_signal) override {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signo : signals) ::sigaddset(&set, signo);
    // Blocked first: one that arrives between the two calls waits for the descriptor instead of killing us.
    if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0)
      return fail_call(error, "pthread_sigmask");
    if (::signalfd(signals_.get(), &set, SFD_NONBLOCK | SFD_CLOEXEC) < 0) return fail_call(errno, "signalfd");
    on_signal_ = std::move(on_signal);
    return {};
  }

  base::Result<int> run_once(std::optional<Micros> max_wait) override {
    const std::optional<BootTime> give_up = max_wait ? std::optional(clock_.boot() + *max_wait) : std::nullopt;
    while (true) {
      if (auto armed = arm_timer(); !armed) return std::unexpected(std::move(armed).error());
      std::array<epoll_event, limits::kEventsPerWaitMax> events{};
      const int n = ::epoll_wait(epoll_.get(), events.data(), limits::kEventsPerWaitMax, wait_ms(give_up));
      if (n < 0 && errno != EINTR) return fail_call(errno, "epoll_wait");
      int ran = 0;
      for (int i = 0; i < n; ++i) ran += run_ready(events.at(static_cast<std::size_t>(i)));
      ran += run_timers();
      if (ran > 0 || (give_up && clock_.boot() >= *give_up)) return ran;
    }
  }

  int wait_descriptor() const override { return epoll_.get(); }
  int timer_descriptor() const override { return timer_.get(); }

 private:
  const Registration* find(int fd) const {
    const auto index = static_cast<std::size_t>(fd);
    return fd >= 0 && index < registrations_.size() ? registrations_[index].get() : nullptr;
  }

  base::Result<void> control(int fd, bool read, bool write, std::uint32_t generation, bool known) {
    epoll_event event{};
    event.events = interest(read, write);
    event.data.u64 = (std::uint64_t{generation} << 32U) | static_cast<std::uint32_t>(fd);
    int answer = ::epoll_ctl(epoll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    // Closed without forget(), and the number was given to somebody new.
    if (answer != 0 && known && errno == ENOENT) answer = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    if (answer != 0) return fail_call(errno, "epoll_ctl of descriptor " + std::to_string(fd));
    return {};
  }

  // How long epoll may sleep, rounded up, so that a wait never ends early and then spins. Timers have a descriptor.
  int wait_ms(const std::optional<BootTime>& give_up) const {
    if (!give_up) return -1;
    const std::int64_t left_us = std::max<std::int64_t>(0, (*give_up - clock_.boot()).count());
    return static_cast<int>(std::min<std::int64_t>((left_us + kMicrosPerMilli - 1) / kMicrosPerMilli, 60'000));
  }

  base::Result<void> arm_timer() {
    const std::optional<BootTime> nearest =
        timers_.empty() ? std::nullopt : std::optional(timers_.begin()->first.first);
    if (nearest == armed_) return {};
    itimerspec spec{};
    if (nearest) {
      const std::int64_t us = std::max<std::int64_t>(1, nearest->time_since_epoch().count());  // 0 would disarm
      spec.it_value.tv_sec = us / kMicrosPerSecond;
      spec.it_value.tv_nsec = us % kMicrosPerSecond * kNanosPerMicro;
    }
    if (::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) != 0)
      return fail_call(errno, "timerfd_settime");
    armed_ = nearest;
    return {};
  }

  // A callback may have forgotten or replaced what a later event of the same wait speaks of: the generation tells.
  int run_ready(const epoll_event& event) {
    const auto fd = static_cast<int>(event.data.u64 & 0xffffffffU);
    if (fd == timer_.get()) return drain_timer();
    if (find(fd) == nullptr) return 0;
    const std::shared_ptr<Registration> registration = registrations_[static_cast<std::size_t>(fd)];
    if (registration->generation != static_cast<std::uint32_t>(event.data.u64 >> 32U)) return 0;
    registration->on_ready({.readable = (event.events & EPOLLIN) != 0,
                            .writable = (event.events & EPOLLOUT) != 0,
                            .hung_up = (event.events & (EPOLLHUP | EPOLLERR)) != 0});
    return 1;
  }

  int drain_timer() {
    std::uint64_t expirations = 0;
    [[maybe_unused]] const ssize_t n = ::read(timer_.get(), &expirations, sizeof expirations);
    armed_.reset();  // it fired: it must be armed anew, even for the same time
    return 0;
  }

  // Those set by a callback of this round wait for the next, so that a timer that sets itself again can't hold us here.
  int run_timers() {
    if (timers_.empty()) return 0;
    const BootTime now = clock_.boot();
    const TimerId newest = last_timer_;
    int ran = 0;
    auto next = timers_.begin();
    while (next != timers_.end() && next->first.first <= now) {
      if (next->first.second > newest) {
        ++next;
        continue;
      }
      const OnTimer on_timer = std::move(next->second);
      due_of_.erase(next->first.second);
      timers_.erase(next);
      on_timer();
      ++ran;
      next = timers_.begin();
    }
    return ran;
  }

  void deliver_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (on_signal_) on_signal_(static_cast<int>(info.ssi_signo));
  }

  base::SystemClock clock_;
  Fd epoll_;
  Fd timer_;
  Fd signals_;
  std::vector<std::shared_ptr<Registration>> registrations_;  // by descriptor number
  std::uint32_t last_generation_ = 0;
  std::map<std::pair<BootTime, TimerId>, OnTimer> timers_;
  std::unordered_map<TimerId, BootTime> due_of_;
  TimerId last_timer_ = 0;
  std::optional<BootTime> armed_;
  std::function<void(int)> on_signal_;
};

}  // namespace

base::Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return fail_call(errno, "epoll_create1");
  Fd timer(::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!timer.valid()) return fail_call(errno, "timerfd_create");
  sigset_t none;
  ::sigemptyset(&none);
  Fd signals(::signalfd(-1, &none, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals.valid()) return fail_call(errno, "signalfd");
  auto loop = std::make_unique<EpollLoop>(std::move(epoll), std::move(timer), std::move(signals));
  if (auto started = loop->start(); !started) return std::unexpected(std::move(started).error());
  return std::unique_ptr<EventLoop>(std::move(loop));
}

}  // namespace intray::sys
