// Purpose:    connected descriptors, asked for ahead from intray-connector, so that waiting for a connection never
// blocks the
//             one thread.
// Process:    executors. The protocol: one byte 'C' asks; 'K' with exactly one descriptor, or 'E', answers, in order.
// Trust:      the connector is less trusted than we are: each descriptor is checked (family, type, protocol, peer
// address)
//             and closed where it is not what was asked for; a malformed packet ends the channel.
// Thread use: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sys/event_loop.h"
#include "sys/fd.h"

namespace intray::receiver {

struct PoolOptions {
  std::string peer_address;               // "127.0.0.1:8080", "[::1]:443": what getpeername must say; numbers only
  int ready_target = 4;                   // asked for ahead when one is taken soon after another; none while idle
  base::Micros ready_age_max{3'000'000};  // older ones are closed, not used: the server may be closing them
};

class DescriptorPool {
 public:
  static base::Result<std::unique_ptr<DescriptorPool>> create(sys::Fd channel, const PoolOptions& options,
                                                              sys::EventLoop& loop, const base::Clock& clock);
  virtual ~DescriptorPool() = default;

  // Asks for connections until `wanted` are ready or on their way. Never blocks; what the channel has no room for is
  // asked for when it has.
  virtual void ask(int wanted) = 0;
  // A ready, young, still open descriptor; an invalid Fd where there is none.
  virtual sys::Fd take() = 0;
  // Closes what is ready; what is on its way stays.
  virtual void drop_ready() = 0;
  virtual int ready() const = 0;
  virtual int dialling() const = 0;
  // Called after every answer: 'K' (true) or 'E' (false: refused, unreachable, timed out; or a descriptor that was not
  // what was asked for). Each callback that was given is called with the same word, whoever of them takes the
  // descriptor, so that none depends on the others' order; they may call ask() and take(). Only before the first
  // answer: at start.
  virtual void on_answer(std::function<void(bool connected)> callback) = 0;
  // Called once where the connector died or broke the protocol: the executor must stop.
  virtual void on_broken(std::function<void(std::string why)> callback) = 0;
  // Why it must stop; nullopt while the connector is fine.
  virtual const std::optional<std::string>& broken() const = 0;
};

// "host:port" of a URL, defaults by scheme; kInvalid where it has more than scheme, host and port.
struct Endpoint {
  bool tls = false;
  std::string host;  // without brackets
  std::uint16_t port = 0;
};
base::Result<Endpoint> parse_endpoint(const std::string& url);

}  // namespace intray::receiver
