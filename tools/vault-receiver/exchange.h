// Purpose:    one request from its arrival to its answer: understands it, meets the faults, applies it, logs each step.
//             Knows nothing of sockets; waits are returned, not slept.
// Trust:      the request is hostile; vault_api.h checks it.
// Thread use: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "vault-receiver/faults.h"
#include "vault-receiver/http_reply.h"
#include "vault-receiver/http_request.h"
#include "vault-receiver/request_log.h"
#include "vault-receiver/vault_api.h"

namespace intray::vault_receiver {

// What all exchanges of a receiver share.
struct Service {
  VaultApi api;
  FaultPlan faults;
  RequestLog log;
  std::chrono::milliseconds idle;
  const base::Clock& clock;
  std::uint64_t last_seq = 0;
  bool stopping = false;  // answers announce "Connection: close"
};

struct Wait {
  std::chrono::milliseconds time;
};

// How an exchange ends on its connection.
struct Ending {
  enum class Then {
    kKeep,   // send the bytes, then the next request may come
    kClose,  // send the bytes (perhaps none), then close
    kReset,  // send nothing, close by RST
    kHold,   // send nothing and keep the connection open until the client gives up
  };
  Then then = Then::kKeep;
  std::string bytes;
};

using Step = std::variant<Wait, Ending>;

class Exchange {
 public:
  Exchange(Service& service, std::uint64_t conn, Request request);

  // Does the next step: first at once, then after each Wait. Not to be called after an Ending. The vault changes in
  // here or never; the client's absence meanwhile changes nothing, as with any server that doesn't look.
  Step advance();

  // The answer could not be sent.
  void lost();

 private:
  enum class Phase { kArrived, kApply, kAnswer };

  void arrive();
  void apply();
  Ending answer();
  Ending unanswered(Ending::Then then, std::string bytes = {});
  Reply status_reply() const;
  std::string render_whole() const;
  LogLine line(std::string_view event) const;
  void log(const LogLine& entry) { service_->log.write(entry, service_->clock.wall()); }
  bool meets(What what) const { return action_.fault && action_.fault->what == what; }
  Persistence persistence() const;

  Service* service_;
  std::uint64_t seq_;
  std::uint64_t conn_;
  Request request_;
  Phase phase_ = Phase::kArrived;
  Call call_;
  std::optional<Reply> refusal_;
  FaultAction action_;
  Reply reply_;
};

// The answer to bytes that are not an acceptable request, logged; the connection closes after it.
std::string answer_refusal(Service& service, std::uint64_t conn, const Refusal& refusal);

}  // namespace intray::vault_receiver
