#include "receiver/descriptor_pool.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "limits.h"
#include "sys/process.h"
#include "sys/socket.h"

namespace intray::receiver {
namespace {

constexpr char kAsk = 'C';
constexpr char kConnected = 'K';
constexpr char kFailed = 'E';

class ChannelPool final : public DescriptorPool {
 public:
  ChannelPool(sys::Fd channel, const PoolOptions& options, const sys::SocketAddress& peer, sys::EventLoop& loop,
              const base::Clock& clock)
      : channel_(std::move(channel)), options_(options), peer_(peer), loop_(&loop), clock_(&clock) {}
  ChannelPool(const ChannelPool&) = delete;
  ChannelPool& operator=(const ChannelPool&) = delete;
  ~ChannelPool() override {
    if (channel_.valid()) loop_->forget(channel_.get());
    if (expiry_) loop_->cancel(*expiry_);
  }

  base::Result<void> start() {
    return loop_->watch(channel_.get(), true, false, [this](sys::EventLoop::Ready ready) { on_channel(ready); });
  }

  void ask(int wanted) override {
    drop_aged();
    wanted = std::min(wanted, limits::kReadyDescriptorsMax);
    const int missing = wanted - ready() - dialling();
    if (missing <= 0 || !channel_.valid()) return;
    unsent_ += missing;
    send_asks();
  }

  sys::Fd take() override {
    drop_aged();
    while (!ready_.empty()) {
      sys::Fd fd = std::move(ready_.front().fd);
      ready_.pop_front();
      // A server that gave up on us, or that has something to say before it was asked, must not see a request.
      if (sys::quietness(fd.get()) != sys::Quiet::kYes) continue;
      ask_ahead();
      return fd;
    }
    return {};
  }

  void drop_ready() override { ready_.clear(); }
  int ready() const override { return static_cast<int>(ready_.size()); }
  int dialling() const override { return asked_ + unsent_; }
  void on_answer(std::function<void(bool)> callback) override { on_answer_.push_back(std::move(callback)); }
  void on_broken(std::function<void(std::string)> callback) override { on_broken_ = std::move(callback); }
  const std::optional<std::string>& broken() const override { return broken_; }

 private:
  struct Ready {
    sys::Fd fd;
    base::BootTime since;
  };

  // Connections that are used up one by one (a server that closes after each answer) are dialled before they are
  // needed; the first ones of a burst are not followed by others.
  void ask_ahead() {
    const base::BootTime now = clock_->boot();
    ++takes_;
    if (now - window_start_ > options_.ready_age_max) {
      window_start_ = now;
      takes_ = 1;
    }
    if (takes_ > options_.ready_target) ask(options_.ready_target);
  }

  void drop_aged() {
    const base::BootTime oldest = clock_->boot() - options_.ready_age_max;
    while (!ready_.empty() && ready_.front().since <= oldest) ready_.pop_front();
  }

  void send_asks() {
    while (unsent_ > 0) {
      auto sent = sys::send_byte(channel_.get(), kAsk);
      if (!sent && sent.error().code == base::ErrorCode::kBusy) break;
      if (!sent) return break_off(sent.error().what);
      --unsent_;
      ++asked_;
    }
    const bool wait_for_room = unsent_ > 0;
    if (wait_for_room == waits_for_room_) return;
    waits_for_room_ = wait_for_room;
    if (auto changed = loop_->change(channel_.get(), true, wait_for_room); !changed) break_off(changed.error().what);
  }

  void on_channel(sys::EventLoop::Ready ready) {
    if (ready.writable && unsent_ > 0) send_asks();
    // Bounded by what was asked for, so that a flooding connector can't hold us here.
    for (int i = asked_; i >= 0 && channel_.valid(); --i) {
      auto packet = sys::receive_packet(channel_.get());
      if (!packet && packet.error().code == base::ErrorCode::kBusy) return;
      if (!packet) return break_off(packet.error().what);
      take_answer(std::move(*packet));
    }
  }

  void take_answer(sys::Packet packet) {
    const bool connected = packet.byte == kConnected && packet.fd.valid();
    const bool failed = packet.byte == kFailed && !packet.fd.valid();
    if (!connected && !failed) return break_off("an answer that is neither 'K' with a descriptor nor 'E'");
    if (asked_ == 0) return break_off("an answer to nothing");
    --asked_;
    const bool usable = connected && keep(std::move(packet.fd));
    for (const auto& callback : on_answer_) callback(usable);
  }

  bool keep(sys::Fd fd) {
    if (auto checked = sys::check_peer(fd.get(), peer_); !checked) {
      // Closed by the server meanwhile is everyday life; anything else means that the connector is not what it should
      // be.
      if (checked.error().code != base::ErrorCode::kUnavailable)
        break_off("a descriptor that is not the receiver: " + checked.error().what);
      return false;
    }
    ready_.push_back({std::move(fd), clock_->boot()});
    if (!expiry_) expire_later();
    return true;
  }

  // Ready descriptors that nobody takes are closed when their time is over, not at the next call.
  void expire_later() {
    const base::Micros left = ready_.front().since + options_.ready_age_max - clock_->boot();
    expiry_ = loop_->after(std::max(left, base::Micros{1}), [this] {
      expiry_.reset();
      drop_aged();
      if (!ready_.empty()) expire_later();
    });
  }

  void break_off(const std::string& why) {
    if (!channel_.valid()) return;
    loop_->forget(channel_.get());
    abandoned_ = std::move(channel_);
    ready_.clear();
    asked_ = unsent_ = 0;
    base::log(base::LogLevel::kError, "connector_lost", {{"why", why}});
    broken_ = why;
    if (on_broken_) on_broken_(why);
  }

  sys::Fd channel_;
  sys::Fd abandoned_;  // a broken channel stays open: a locked-down process may not close what it had open before
  PoolOptions options_;
  sys::SocketAddress peer_;
  sys::EventLoop* loop_;
  const base::Clock* clock_;
  std::deque<Ready> ready_;  // oldest first
  int asked_ = 0;            // sent, not answered
  int unsent_ = 0;           // the channel had no room
  bool waits_for_room_ = false;
  int takes_ = 0;
  base::BootTime window_start_{};
  std::optional<sys::EventLoop::TimerId> expiry_;
  std::vector<std::function<void(bool)>> on_answer_;
  std::function<void(std::string)> on_broken_;
  std::optional<std::string> broken_;
};

}  // namespace

base::Result<std::unique_ptr<DescriptorPool>> DescriptorPool::create(sys::Fd channel, const PoolOptions& options,
                                                                     sys::EventLoop& loop, const base::Clock& clock) {
  const sys::SocketAddress peer = INTRAY_TRY(sys::parse_address(options.peer_address));
  if (!channel.valid()) return base::fail(base::ErrorCode::kInvalid, "no channel to the connector");
  if (options.ready_target < 0 || options.ready_target > limits::kReadyDescriptorsMax)
    return base::fail(base::ErrorCode::kInvalid, "ready_target is out of range");
  // A site that reuses nothing (0) still needs the time to take what was dialled.
  PoolOptions bounded = options;
  bounded.ready_age_max = std::max(options.ready_age_max, base::Micros{limits::kReadyAgeMin_us});
  auto pool = std::make_unique<ChannelPool>(std::move(channel), bounded, peer, loop, clock);
  INTRAY_TRY(pool->start());
  return std::unique_ptr<DescriptorPool>(std::move(pool));
}

}  // namespace intray::receiver
