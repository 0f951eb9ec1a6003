// Purpose:    libcurl's multi handle inside our event loop: sockets, timers, and connections from the pool instead of
// dials. Trust:      as the receiver client; nothing of an answer is looked at here. Thread use: one thread; callbacks
// run inside the event loop.
//
// One multi handle a process, made before lock-down: making one makes a socket.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "receiver/connections.h"
#include "receiver/descriptor_pool.h"
#include "sys/event_loop.h"

namespace intray::receiver {

class Multi {
 public:
  // Called once for each transfer that ended, never from inside add().
  using OnDone = std::function<void(CURL* easy, CURLcode result)>;

  static base::Result<std::unique_ptr<Multi>> create(DescriptorPool& pool, sys::EventLoop& loop,
                                                     const base::Clock& clock, base::Micros reuse_limit,
                                                     int connections_max, OnDone on_done);
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;
  ~Multi();  // every easy handle must be gone before

  // Starts a transfer; false where libcurl refuses, and then on_done is not called for it.
  bool add(CURL* easy);
  void remove(CURL* easy);

  // For CURLOPT_OPENSOCKETFUNCTION: a connection out of the pool; CURL_SOCKET_BAD where there is none.
  curl_socket_t open_socket();
  // For CURLOPT_CLOSESOCKETFUNCTION. `self` is the Multi, since connections outlive the transfers that opened them.
  static int close_socket(void* self, curl_socket_t fd);

  Connections& connections() { return connections_; }
  // Ends every connection without a transfer on the wire; libcurl closes the descriptors when it next looks.
  void retire_idle();

 private:
  Multi(DescriptorPool& pool, sys::EventLoop& loop, const base::Clock& clock, base::Micros reuse_limit, OnDone on_done);

  static int on_socket(CURL* easy, curl_socket_t fd, int what, void* self, void* unused);
  static int on_timer_change(CURLM* multi, long timeout_ms, void* self);
  void watch(Connection& connection, bool read, bool write);
  void on_ready(int fd, sys::EventLoop::Ready ready);
  void on_timer();
  void arm();
  void act(curl_socket_t fd, int events);
  void act_once(curl_socket_t fd, int events);

  DescriptorPool* pool_;
  sys::EventLoop* loop_;
  const base::Clock* clock_;
  base::SystemClock timer_clock_;  // libcurl and the loop go by the real one
  OnDone on_done_;
  Connections connections_;
  CURLM* multi_ = nullptr;
  std::optional<base::BootTime> due_;        // when libcurl wants to be called
  std::optional<base::BootTime> armed_for_;  // never later than due_
  sys::EventLoop::TimerId timer_ = 0;
  bool acting_ = false;
};

}  // namespace intray::receiver
