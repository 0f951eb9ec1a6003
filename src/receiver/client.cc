#include "receiver/client.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "base/log.h"
#include "limits.h"
#include "receiver/connect_shim.h"
#include "receiver/multi.h"
#include "receiver/request.h"
#include "receiver/transfer.h"

namespace intray::receiver {
namespace {

using Kind = Exchange::Kind;

class CurlClient final : public Client {
 public:
  CurlClient(DescriptorPool& pool, sys::EventLoop& loop, const base::Clock& clock) : pool_(&pool), loop_(&loop) {
    context_.clock = &clock;
  }
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;
  ~CurlClient() override {
    if (wait_timer_) loop_->cancel(*wait_timer_);
    if (redial_timer_) loop_->cancel(*redial_timer_);
    transfers_.clear();  // before the multi handle
  }

  base::Result<void> start(const Options& options, const Credential& credential) {
    context_.easy = INTRAY_TRY(make_easy_context(options));
    const std::string base_url = (context_.easy.endpoint.tls ? "https://" : "http://") + context_.easy.host_header;
    context_.save_url = base_url + std::string(kSavePath);
    context_.read_base = base_url;
    context_.headers = std::make_unique<CommonHeaders>(INTRAY_TRY(BearerLine::make(credential)));
    multi_ = INTRAY_TRY(Multi::create(*pool_, *loop_, *context_.clock, options.idle_reuse, options.in_flight_max,
                                      [this](CURL* easy, CURLcode result) { on_done(easy, result); }));
    context_.multi = multi_.get();
    // Settings that this libcurl refuses are found now, not at the first job.
    for (const Kind kind : {Kind::kSave, Kind::kRead}) {
      transfers_.push_back(INTRAY_TRY(Transfer::create(context_, kind)));
      idle_of(kind).push_back(transfers_.back().get());
    }
    // The pool keeps the callback, perhaps for longer than we live.
    pool_->on_answer([alive = std::weak_ptr(alive_), this](bool connected) {
      if (!alive.expired()) on_pool_answer(connected);
    });
    return {};
  }

  std::int64_t wire_bytes(const SaveRequest& request) const override {
    const std::size_t body_bytes = save_body_bytes(request.vault_path, request.content);
    return save_head_bytes(request, body_bytes, context_.easy.host_header, context_.headers->bearer_bytes()) +
           static_cast<std::int64_t>(body_bytes);
  }

  void save(model::Grant grant, SaveRequest request, std::function<void(MutationResult)> done) override {
    auto exchange = std::make_unique<Exchange>();
    exchange->kind = Kind::kSave;
    exchange->headers.emplace(request.idempotency_key, grant.attempt(), request.fence);
    exchange->grant.emplace(std::move(grant));
    exchange->body = render_save_body(request.vault_path, request.content);
    exchange->head_bytes =
        save_head_bytes(request, exchange->body.size(), context_.easy.host_header, context_.headers->bearer_bytes());
    exchange->on_save = std::move(done);
    enqueue(std::move(exchange));
  }

  void read(std::string vault_path, std::function<void(ReadResult)> done) override {
    auto exchange = std::make_unique<Exchange>();
    exchange->url = read_url(context_.read_base, vault_path);
    exchange->on_read = std::move(done);
    enqueue(std::move(exchange));
  }

  int in_flight() const override { return active_ + static_cast<int>(waiting_.size()); }
  void drop_idle() override {
    multi_->retire_idle();
    pool_->drop_ready();
  }

 private:
  std::vector<Transfer*>& idle_of(Kind kind) { return kind == Kind::kSave ? idle_saves_ : idle_reads_; }
  const Options& options() const { return context_.easy.options; }

  void enqueue(std::unique_ptr<Exchange> exchange) {
    exchange->wait_until = wait_clock_.boot() + options().connect_timeout;
    waiting_.push_back(std::move(exchange));
    pump();
  }

  // Starts what has a connection; asks for connections for the rest.
  void pump() {
    if (waiting_.empty()) return;  // the count below looks at every connection
    int idle = multi_->connections().usable_idle(context_.clock->boot()) - context_.awaited_idle;
    int ready = pool_->ready() - context_.awaited_ready;
    while (!waiting_.empty() && active_ < options().in_flight_max && (idle > 0 || ready > 0)) {
      const bool fresh = idle <= 0;
      --(fresh ? ready : idle);
      if (!start_next(fresh)) break;
    }
    const int startable = std::min(static_cast<int>(waiting_.size()), options().in_flight_max - active_);
    if (startable > 0 && !redial_timer_) pool_->ask(startable + context_.awaited_ready);
    arm_wait();
  }

  bool start_next(bool fresh) {
    std::vector<Transfer*>& spare = idle_of(waiting_.front()->kind);
    if (spare.empty()) {
      auto made = Transfer::create(context_, waiting_.front()->kind);
      if (!made) {
        base::log(base::LogLevel::kError, "transfer_not_made", {{"why", made.error().what}});
        return false;  // the wait for a connection ends it
      }
      transfers_.push_back(std::move(*made));
      spare.push_back(transfers_.back().get());
    }
    Transfer* const transfer = spare.back();
    std::unique_ptr<Exchange> exchange = std::move(waiting_.front());
    waiting_.pop_front();
    if (!transfer->start(std::move(exchange), fresh)) {
      waiting_.push_front(transfer->take_back());
      return false;
    }
    spare.pop_back();
    ++active_;
    return true;
  }

  void on_done(CURL* easy, CURLcode result) {
    Transfer* const transfer = Transfer::of(easy);
    Transfer::Ended ended = transfer->end(result);
    --active_;
    idle_of(transfer->kind()).push_back(transfer);
    if (ended.try_again != Transfer::Ended::TryAgain::kNo) {
      const bool stale = ended.try_again == Transfer::Ended::TryAgain::kStaleConnection;
      try_again(std::move(ended.exchange), stale);
    } else if (ended.exchange->kind == Kind::kSave) {
      ended.exchange->on_save(std::move(ended.save));
    } else {
      ended.exchange->on_read(std::move(ended.read));
    }
    pump();
  }

  // First in line, and not for ever.
  void try_again(std::unique_ptr<Exchange> exchange, bool stale) {
    if (stale && ++exchange->stale_tries > limits::kStaleConnectionsMax)
      return fail_unsent(std::move(exchange), "no connection stays fresh");
    if (exchange->wait_until <= wait_clock_.boot())
      return fail_unsent(std::move(exchange), "waited too long for a connection to the receiver");
    waiting_.push_front(std::move(exchange));
  }

  void fail_unsent(std::unique_ptr<Exchange> exchange, const std::string& why) {
    if (exchange->kind == Kind::kSave) {
      MutationResult out;
      out.detail = why;
      exchange->on_save(std::move(out));
    } else {
      ReadResult out;
      out.detail = why;
      exchange->on_read(std::move(out));
    }
  }

  void on_pool_answer(bool connected) {
    if (connected) {
      redial_wait_ = base::Micros{limits::kRedialWaitFirst_us};
      if (redial_timer_) loop_->cancel(*std::exchange(redial_timer_, std::nullopt));
      return pump();
    }
    // With no connection at all, the refused dial was the first waiting request's. Otherwise one may yet become free.
    if (!waiting_.empty() && !multi_->connections().any_alive(context_.clock->boot()) && pool_->ready() == 0) {
      std::unique_ptr<Exchange> first = std::move(waiting_.front());
      waiting_.pop_front();
      fail_unsent(std::move(first), "no connection to the receiver");
    }
    if (!waiting_.empty() && pool_->dialling() == 0) redial_later();
  }

  void redial_later() {
    if (redial_timer_) return;
    redial_timer_ = loop_->after(redial_wait_, [this] {
      redial_timer_.reset();
      pump();
    });
    redial_wait_ = std::min(redial_wait_ * 2, base::Micros{limits::kRedialWaitMax_us});
  }

  // One timer, for the oldest: all wait equally long.
  void arm_wait() {
    if (waiting_.empty() || wait_timer_) return;
    const base::Micros left = waiting_.front()->wait_until - wait_clock_.boot();
    wait_timer_ = loop_->after(std::max(left, base::Micros{0}), [this] {
      wait_timer_.reset();
      end_waits();
    });
  }

  void end_waits() {
    while (!waiting_.empty() && waiting_.front()->wait_until <= wait_clock_.boot()) {
      std::unique_ptr<Exchange> late = std::move(waiting_.front());
      waiting_.pop_front();
      fail_unsent(std::move(late), "waited too long for a connection to the receiver");
    }
    arm_wait();
  }

  DescriptorPool* pool_;
  sys::EventLoop* loop_;
  base::SystemClock wait_clock_;  // the loop's timers go by it
  TransferContext context_;
  std::unique_ptr<Multi> multi_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Transfer*> idle_saves_;
  std::vector<Transfer*> idle_reads_;
  std::deque<std::unique_ptr<Exchange>> waiting_;  // oldest first
  int active_ = 0;
  std::optional<sys::EventLoop::TimerId> wait_timer_;
  std::optional<sys::EventLoop::TimerId> redial_timer_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
  base::Micros redial_wait_{limits::kRedialWaitFirst_us};
};

}  // namespace

base::Result<std::unique_ptr<Client>> Client::create(const Options& options, const Credential& credential,
                                                     DescriptorPool& pool, sys::EventLoop& loop,
                                                     const base::Clock& clock) {
  auto client = std::make_unique<CurlClient>(pool, loop, clock);
  INTRAY_TRY(client->start(options, credential));
  const bool tls = INTRAY_TRY(parse_endpoint(options.url)).tls;
  static const base::Result<void> proven = shim_works(tls);
  if (!proven) return std::unexpected(proven.error());
  return std::unique_ptr<Client>(std::move(client));
}

}  // namespace intray::receiver
