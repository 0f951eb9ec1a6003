#include "receiver/multi.h"

#include <algorithm>
#include <utility>

#include "receiver/connect_shim.h"
#include "sys/fd.h"
#include "sys/socket.h"

namespace intray::receiver {

Multi::Multi(DescriptorPool& pool, sys::EventLoop& loop, const base::Clock& clock, base::Micros reuse_limit,
             OnDone on_done)
    : pool_(&pool), loop_(&loop), clock_(&clock), on_done_(std::move(on_done)), connections_(reuse_limit) {}

base::Result<std::unique_ptr<Multi>> Multi::create(DescriptorPool& pool, sys::EventLoop& loop, const base::Clock& clock,
                                                   base::Micros reuse_limit, int connections_max, OnDone on_done) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (global != CURLE_OK) return base::fail(base::ErrorCode::kUnsupported, "libcurl can't start");
  std::unique_ptr<Multi> out(new Multi(pool, loop, clock, reuse_limit, std::move(on_done)));
  out->multi_ = curl_multi_init();
  if (out->multi_ == nullptr) return base::fail(base::ErrorCode::kUnsupported, "libcurl has no multi handle for us");
  const bool set =
      curl_multi_setopt(out->multi_, CURLMOPT_SOCKETFUNCTION, &Multi::on_socket) == CURLM_OK &&
      curl_multi_setopt(out->multi_, CURLMOPT_SOCKETDATA, out.get()) == CURLM_OK &&
      curl_multi_setopt(out->multi_, CURLMOPT_TIMERFUNCTION, &Multi::on_timer_change) == CURLM_OK &&
      curl_multi_setopt(out->multi_, CURLMOPT_TIMERDATA, out.get()) == CURLM_OK &&
      curl_multi_setopt(out->multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING)) == CURLM_OK &&
      curl_multi_setopt(out->multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections_max)) == CURLM_OK;
  if (!set) return base::fail(base::ErrorCode::kUnsupported, "libcurl refuses a setting of its multi handle");
  return out;
}

Multi::~Multi() {
  if (multi_ != nullptr) curl_multi_cleanup(multi_);
  if (armed_for_) loop_->cancel(timer_);
}

bool Multi::add(CURL* easy) { return curl_multi_add_handle(multi_, easy) == CURLM_OK; }
void Multi::remove(CURL* easy) { curl_multi_remove_handle(multi_, easy); }

curl_socket_t Multi::open_socket() {
  while (true) {
    sys::Fd fd = pool_->take();
    if (!fd.valid()) return CURL_SOCKET_BAD;
    const auto port = sys::local_port(fd.get());
    if (!port || !connections_.add(fd.get(), *port, clock_->boot())) continue;
    if (remember_connected(fd.get())) return fd.release();
    connections_.remove(fd.get());
    return CURL_SOCKET_BAD;
  }
}

int Multi::close_socket(void* self, curl_socket_t fd) {
  auto& multi = *static_cast<Multi*>(self);
  if (const Connection* const connection = multi.connections_.find(fd); connection != nullptr && connection->watched)
    multi.loop_->forget(fd);
  multi.connections_.remove(fd);
  forget_connected(fd);
  const sys::Fd closes_it(fd);
  return 0;
}

void Multi::retire_idle() {
  for (auto& [fd, connection] : connections_.all()) {
    if (connection.busy) continue;
    connection.retired = true;
    sys::shut_down(fd);
  }
}

int Multi::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& multi = *static_cast<Multi*>(self);
  Connection* const connection = multi.connections_.find(fd);
  if (connection == nullptr) return 0;  // closed already
  connection->polled = what != CURL_POLL_REMOVE;
  // Between transfers a connection stays registered: that saves two calls a request, and we learn of its end at once.
  const bool read = what != CURL_POLL_OUT;
  const bool write = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
  multi.watch(*connection, read, write);
  return 0;
}

void Multi::watch(Connection& connection, bool read, bool write) {
  const int fd = connection.fd;
  if (!connection.watched) {
    if (!connection.polled) return;  // its end was seen already
    connection.watched =
        loop_->watch(fd, read, write, [this, fd](sys::EventLoop::Ready ready) { on_ready(fd, ready); }).has_value();
    if (!connection.watched) connection.dead = true;  // its transfer ends by time-out
  } else if (write || connection.watched_for_write) {
    static_cast<void>(loop_->change(fd, read, write));
  }
  connection.watched_for_write = write;
}

void Multi::on_ready(int fd, sys::EventLoop::Ready ready) {
  Connection* const connection = connections_.find(fd);
  if (connection == nullptr) return;
  if (!connection->polled) {
    connection->dead = true;
    connection->watched = false;
    loop_->forget(fd);
    return;
  }
  // After a hang-up libcurl reads what is left and finds the reason by itself; its error flag would hide both.
  int events = 0;
  if (ready.readable || ready.hung_up) events |= CURL_CSELECT_IN;
  if (ready.writable || (ready.hung_up && connection->watched_for_write)) events |= CURL_CSELECT_OUT;
  act(fd, events);
}

int Multi::on_timer_change(CURLM*, long timeout_ms, void* self) {
  auto& multi = *static_cast<Multi*>(self);
  if (timeout_ms < 0) {
    multi.due_.reset();
  } else {
    multi.due_ = multi.timer_clock_.boot() + std::chrono::milliseconds(timeout_ms);
    if (!multi.acting_) multi.arm();
  }
  return 0;
}

// Only an earlier time sets the timer anew; where it fires too early it is set again then. libcurl moves its time with
// every request, mostly to a later one.
void Multi::arm() {
  if (!due_ || (armed_for_ && *armed_for_ <= *due_)) return;
  if (armed_for_) loop_->cancel(timer_);
  armed_for_ = due_;
  timer_ = loop_->after(std::max(*due_ - timer_clock_.boot(), base::Micros{0}), [this] { on_timer(); });
}

void Multi::on_timer() {
  armed_for_.reset();
  if (due_ && *due_ <= timer_clock_.boot()) {
    due_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  } else {
    arm();
  }
}

// Requests that were added meanwhile, by callbacks of those that ended, start before this returns: without a timer's
// round through the loop. One such round at most, so that others get their turn.
void Multi::act(curl_socket_t fd, int events) {
  acting_ = true;
  act_once(fd, events);
  if (due_ && *due_ <= timer_clock_.boot()) {
    due_.reset();
    act_once(CURL_SOCKET_TIMEOUT, 0);
  }
  acting_ = false;
  arm();
}

void Multi::act_once(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, fd, events, &running);
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode result = message->data.result;
    on_done_(easy, result);  // `message` does not outlive this
  }
}

}  // namespace intray::receiver
