#include "sys/event_loop.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "sys/fd.h"
#include "temp_dir.h"

using namespace intray;
using namespace std::chrono_literals;
using base::Micros;
using test::value_of;

namespace {

struct Pipe {
  sys::Fd read_end;
  sys::Fd write_end;
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  void put() const { REQUIRE(::write(write_end.get(), "x", 1) == 1); }
  void get() const {
    char byte = 0;
    REQUIRE(::read(read_end.get(), &byte, 1) == 1);
  }
};

}  // namespace

TEST_CASE("event loop: timers run in order of their time, not of their making, and never early") {
  const auto loop = value_of(sys::EventLoop::create());
  const base::SystemClock clock;
  const auto start = clock.boot();
  std::vector<int> order;
  std::vector<base::BootTime> times;
  const auto add = [&](int number, Micros delay) {
    loop->after(delay, [&, number] {
      order.push_back(number);
      times.push_back(clock.boot());
    });
  };
  add(3, 30ms);
  add(1, 5ms);
  add(2, 15ms);
  const auto cancelled = loop->after(1ms, [&] { order.push_back(99); });
  loop->cancel(cancelled);
  loop->cancel(cancelled);
  while (order.size() < 3) CHECK(value_of(loop->run_once(std::nullopt)) > 0);
  CHECK(order == std::vector<int>{1, 2, 3});
  CHECK(times[0] - start >= 5ms);
  CHECK(times[1] - start >= 15ms);
  CHECK(times[2] - start >= 30ms);
}

TEST_CASE("event loop: with nothing due it waits as long as it was told, and runs nothing") {
  const auto loop = value_of(sys::EventLoop::create());
  const base::SystemClock clock;
  const auto start = clock.boot();
  CHECK(value_of(loop->run_once(20ms)) == 0);
  CHECK(clock.boot() - start >= 20ms);
  CHECK(value_of(loop->run_once(0ms)) == 0);
}

TEST_CASE("event loop: a timer may set another, and one that is due at once doesn't hold the round") {
  const auto loop = value_of(sys::EventLoop::create());
  int runs = 0;
  std::function<void()> again = [&] {
    ++runs;
    loop->after(0ms, again);
  };
  loop->after(0ms, again);
  CHECK(value_of(loop->run_once(std::nullopt)) == 1);
  CHECK(value_of(loop->run_once(std::nullopt)) == 1);
  CHECK(runs == 2);
}

TEST_CASE("event loop: a timer may cancel one that is due in the same round") {
  const auto loop = value_of(sys::EventLoop::create());
  int runs = 0;
  sys::EventLoop::TimerId second = 0;
  loop->after(0ms, [&] {
    ++runs;
    loop->cancel(second);
  });
  second = loop->after(0ms, [&] { ++runs; });
  CHECK(value_of(loop->run_once(5ms)) == 1);
  CHECK(value_of(loop->run_once(5ms)) == 0);
  CHECK(runs == 1);
}

TEST_CASE("event loop: descriptors are level-triggered and interest can be changed") {
  const auto loop = value_of(sys::EventLoop::create());
  const Pipe pipe;
  int readable = 0;
  value_of(
      loop->watch(pipe.read_end.get(), true, false, [&](sys::EventLoop::Ready r) { readable += r.readable ? 1 : 0; }));
  CHECK(value_of(loop->run_once(1ms)) == 0);
  pipe.put();
  CHECK(value_of(loop->run_once(1s)) == 1);
  CHECK(value_of(loop->run_once(1s)) == 1);
  CHECK(readable == 2);
  value_of(loop->change(pipe.read_end.get(), false, false));
  CHECK(value_of(loop->run_once(1ms)) == 0);
  value_of(loop->change(pipe.read_end.get(), true, false));
  pipe.get();
  CHECK(value_of(loop->run_once(1ms)) == 0);
  int writable = 0;
  value_of(
      loop->watch(pipe.write_end.get(), false, true, [&](sys::EventLoop::Ready r) { writable += r.writable ? 1 : 0; }));
  CHECK(value_of(loop->run_once(1s)) == 1);
  CHECK(writable == 1);
  loop->forget(pipe.write_end.get());
  CHECK(value_of(loop->run_once(1ms)) == 0);
  CHECK(loop->change(pipe.write_end.get(), true, false).error().code == base::ErrorCode::kNotFound);
}

TEST_CASE("event loop: the other end's close is told") {
  const auto loop = value_of(sys::EventLoop::create());
  Pipe pipe;
  bool hung_up = false;
  value_of(loop->watch(pipe.read_end.get(), true, false, [&](sys::EventLoop::Ready r) {
    hung_up = r.hung_up;
    loop->forget(pipe.read_end.get());
  }));
  pipe.write_end.reset();
  CHECK(value_of(loop->run_once(1s)) == 1);
  CHECK(hung_up);
}

TEST_CASE("event loop: a callback may forget others and itself; stale events reach nobody") {
  const auto loop = value_of(sys::EventLoop::create());
  Pipe a;
  Pipe b;
  int runs = 0;
  std::string captured(100, 'c');  // must stay alive while its callback forgets itself
  const auto forget_both = [&, captured](sys::EventLoop::Ready) {
    ++runs;
    loop->forget(a.read_end.get());
    loop->forget(b.read_end.get());
    CHECK(captured == std::string(100, 'c'));
  };
  value_of(loop->watch(a.read_end.get(), true, false, forget_both));
  value_of(loop->watch(b.read_end.get(), true, false, forget_both));
  a.put();
  b.put();
  CHECK(value_of(loop->run_once(1s)) == 1);
  CHECK(runs == 1);
  CHECK(value_of(loop->run_once(1ms)) == 0);
}

TEST_CASE("event loop: a descriptor number reused within one round doesn't get its predecessor's event") {
  const auto loop = value_of(sys::EventLoop::create());
  Pipe a;
  Pipe b;
  int old_calls = 0;
  int new_calls = 0;
  sys::Fd replacement;
  // Whichever comes first closes the other and puts an idle pipe in its place.
  const auto swap_other = [&](sys::Fd* other) {
    return [&, other](sys::EventLoop::Ready) {
      ++old_calls;
      const int number = other->get();
      loop->forget(number);
      other->reset();
      std::array<int, 2> ends{};
      REQUIRE(::pipe(ends.data()) == 0);
      REQUIRE(ends[0] == number);
      other->reset(ends[0]);
      replacement.reset(ends[1]);
      value_of(loop->watch(number, true, false, [&](sys::EventLoop::Ready) { ++new_calls; }));
    };
  };
  value_of(loop->watch(a.read_end.get(), true, false, swap_other(&b.read_end)));
  value_of(loop->watch(b.read_end.get(), true, false, swap_other(&a.read_end)));
  a.put();
  b.put();
  CHECK(value_of(loop->run_once(1s)) == 1);
  CHECK(old_calls == 1);
  CHECK(new_calls == 0);
}

TEST_CASE("event loop: signals arrive as callbacks, one after the other") {
  // In a child: a blocked signal would stay with the test program.
  const pid_t child = ::fork();
  if (child == 0) {
    auto loop = sys::EventLoop::create();
    std::vector<int> seen;
    if (!loop || !(*loop)->on_signals({SIGTERM, SIGHUP}, [&](int signo) { seen.push_back(signo); })) ::_exit(2);
    ::kill(::getpid(), SIGTERM);
    ::kill(::getpid(), SIGHUP);
    while (seen.size() < 2)
      if (!(*loop)->run_once(Micros(1s))) ::_exit(3);
    const bool both = std::find(seen.begin(), seen.end(), SIGTERM) != seen.end() &&
                      std::find(seen.begin(), seen.end(), SIGHUP) != seen.end();
    ::_exit(both ? 0 : 4);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
