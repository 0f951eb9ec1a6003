// Purpose:    one client's connection: its socket, its buffers and where it stands.
// Trust:      the client is hostile; what is kept for it is bounded (RequestReader, kPipelinedBytesMax).
// Thread use: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "vault-receiver/exchange.h"
#include "vault-receiver/fd.h"
#include "vault-receiver/http_request.h"

namespace intray::vault_receiver {

class Connection {
 public:
  enum class Phase {
    kReading,   // for a request, or in the middle of one
    kWaiting,   // an exchange waits for its time
    kSending,   // an answer
    kHeld,      // never to be answered
    kDraining,  // refused and answered; reading on for a moment, so that the answer isn't lost to a reset
  };
  enum class Io { kDone, kBlocked, kEnded, kFailed };

  Connection(Fd socket, std::uint64_t number) : socket_(std::move(socket)), number_(number) {}

  int fd() const { return socket_.get(); }
  std::uint64_t number() const { return number_; }

  // One recv() into the unread bytes. kEnded: the client sends no more.
  Io receive();
  // Sends what is left of the answer.
  Io flush();
  // Makes close() send RST and drop what is unsent.
  void reset_on_close();
  // Tells the client that nothing follows.
  void shut_down_sending();

  // Events to wait for, as a mask of epoll(7).
  std::uint32_t interest() const;
  bool idle() const { return phase == Phase::kReading && !reader.begun() && unread.empty(); }

  Phase phase = Phase::kReading;
  RequestReader reader;
  std::string unread;  // received, not yet taken by the reader
  bool ended = false;  // the client has shut down its side
  std::optional<Exchange> exchange;
  std::string outgoing;
  Ending::Then then = Ending::Then::kKeep;  // after `outgoing` is sent
  bool drain = false;                       // with kClose: drain first
  bool sending_continue = false;            // `outgoing` is "100 Continue", reading goes on after it

  std::optional<base::BootTime> request_began;
  std::optional<base::BootTime> deadline;  // kept in step with the server's timer queue
  std::uint32_t registered = 0;            // the mask epoll knows
  bool unregistered = false;               // the socket is dead, only the exchange's timer counts

 private:
  Fd socket_;
  std::uint64_t number_;
  std::size_t sent_ = 0;
};

}  // namespace intray::vault_receiver
