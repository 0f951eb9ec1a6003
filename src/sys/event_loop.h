// Purpose:    the one wait of a process: epoll over descriptors, timers (CLOCK_BOOTTIME) and signals.
// Thread use: one thread; callbacks run inside run_once().
//
// No polling: with nothing due, run_once() sleeps until a descriptor or the nearest timer is ready.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace intray::sys {

class EventLoop {
 public:
  static base::Result<std::unique_ptr<EventLoop>> create();
  virtual ~EventLoop() = default;

  struct Ready {
    bool readable = false;
    bool writable = false;
    bool hung_up = false;  // EPOLLHUP or EPOLLERR
  };
  using OnReady = std::function<void(Ready)>;
  using OnTimer = std::function<void()>;
  using TimerId = std::uint64_t;

  // Level-triggered. One registration per descriptor; set again to change the interest.
  virtual base::Result<void> watch(int fd, bool read, bool write, OnReady on_ready) = 0;
  virtual base::Result<void> change(int fd, bool read, bool write) = 0;
  virtual void forget(int fd) = 0;  // before the descriptor is closed; safe inside a callback, also of fd itself

  virtual TimerId after(base::Micros delay, OnTimer on_timer) = 0;
  virtual void cancel(TimerId id) = 0;

  // Blocks these signals and calls on_signal(signo) from run_once(). Once per process.
  virtual base::Result<void> on_signals(const std::vector<int>& signals, std::function<void(int)> on_signal) = 0;

  // Waits until something is ready or `max_wait` has passed (nullopt: as long as it takes), runs what is due, returns
  // how many callbacks ran.
  virtual base::Result<int> run_once(std::optional<base::Micros> max_wait) = 0;

  // The descriptors that a lock-down must know: epoll's own, and the timer's.
  virtual int wait_descriptor() const = 0;
  virtual int timer_descriptor() const = 0;
};

}  // namespace intray::sys
