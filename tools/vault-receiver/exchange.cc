#include "vault-receiver/exchange.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "vault-receiver/bounds.h"

namespace intray::vault_receiver {
namespace {

// The vault is not changed by a request that meets one of these.
bool prevents_effect(What what) {
  switch (what) {
    case What::kCutBefore:
    case What::kResetBefore:
    case What::kStatus:
    case What::kHtml:
    case What::kStall:
    case What::kLie: return true;
    default: return false;
  }
}

std::string flood_of_headers() {
  constexpr std::size_t kLineBytes = 1024;
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n";
  while (head.size() < kFloodBytes) head.append("X-Flood: ").append(kLineBytes, 'x').append("\r\n");
  return head.append("\r\nnull");
}

std::string_view header_or_empty(const Request& request, std::string_view name) {
  const std::string* value = request.header(name);
  return value == nullptr ? std::string_view{} : std::string_view(*value);
}

}  // namespace

Exchange::Exchange(Service& service, std::uint64_t conn, Request request)
    : service_(&service), seq_(++service.last_seq), conn_(conn), request_(std::move(request)) {}

Step Exchange::advance() {
  if (phase_ == Phase::kArrived) {
    arrive();
    phase_ = Phase::kApply;
    if (action_.delay.count() > 0) return Wait{action_.delay};
  }
  if (phase_ == Phase::kApply) {
    apply();
    phase_ = Phase::kAnswer;
    if (action_.delay_answer.count() > 0) return Wait{action_.delay_answer};
  }
  return answer();
}

void Exchange::arrive() {
  refusal_ = service_->api.understand(request_, call_);
  // Faults meet, and count, requests that would otherwise be carried out.
  if (!refusal_) action_ = service_->faults.decide(call_.kind, call_.path);
  LogLine entry = line("received");
  const std::string hash = !refusal_ && call_.kind == Kind::kSave ? base::sha256(call_.content).hex() : std::string();
  entry.content_sha256 = hash;
  entry.fault = action_.specs;
  log(entry);
}

void Exchange::apply() {
  if (refusal_) {
    reply_ = std::move(*refusal_);
    return;
  }
  if (action_.fault && prevents_effect(action_.fault->what)) {
    if (meets(What::kStatus)) reply_ = status_reply();
    if (meets(What::kLie)) reply_ = VaultApi::success_reply(call_);
    if (meets(What::kHtml)) {
      reply_.content_type = "text/html; charset=utf-8";
      reply_.body = "<!doctype html><html><body><h1>Welcome</h1></body></html>\n";
    }
    return;
  }
  Outcome outcome = service_->api.apply(call_, meets(What::kMangle));
  if (outcome.applied) {
    LogLine entry = line("applied");
    entry.content_sha256 = outcome.stored_sha256;
    log(entry);
  }
  reply_ = std::move(outcome.reply);
  std::string().swap(call_.content);
  // A refusal (stale fence, no such note) stays what it is: these are faults of an answer to something done.
  if (reply_.status != 200) return;
  if (meets(What::kStatusAfter)) reply_ = status_reply();
  if (meets(What::kBody)) reply_.body = action_.fault->text;
  if (meets(What::kFlood)) reply_.body.assign(kFloodBytes, 'x');
}

Ending Exchange::answer() {
  using Then = Ending::Then;
  if (action_.fault) {
    switch (action_.fault->what) {
      case What::kCutBefore:
      case What::kCutAfter: return unanswered(Then::kClose);
      case What::kResetBefore:
      case What::kResetAfter: return unanswered(Then::kReset);
      case What::kStall:
      case What::kStallAfter: return unanswered(Then::kHold);
      case What::kGarbage: return unanswered(Then::kClose, "\x15\x03\x03 this is not HTTP\r\n\r\n");
      case What::kFloodHead: return unanswered(Then::kClose, flood_of_headers());
      case What::kCutBody: {
        const std::string_view body = body_of(reply_);
        return unanswered(
            Then::kClose,
            render_head(reply_, persistence(), service_->clock.wall()).append(body.substr(0, body.size() / 2)));
      }
      default: break;
    }
  }
  LogLine entry = line("answered");
  entry.status = reply_.status;
  log(entry);
  std::string bytes = render_whole();
  if (meets(What::kTwice)) bytes += bytes;
  // After a bare 1xx the client still waits for an answer that never comes.
  const bool keep = persistence().keep_alive && reply_.status >= 200;
  return Ending{keep ? Then::kKeep : Then::kClose, std::move(bytes)};
}

Ending Exchange::unanswered(Ending::Then then, std::string bytes) {
  LogLine entry = line("unanswered");
  entry.why = action_.fault ? std::string_view(action_.fault->spec) : std::string_view{};
  log(entry);
  return Ending{then, std::move(bytes)};
}

void Exchange::lost() {
  LogLine entry = line("unanswered");
  entry.why = "client gone";
  log(entry);
}

Reply Exchange::status_reply() const {
  const int status = static_cast<int>(action_.fault->number);
  Reply reply = error_reply(status, reason_phrase(status));
  if (!action_.fault->retry_after.empty()) reply.headers.emplace_back("Retry-After", action_.fault->retry_after);
  if (status >= 300 && status < 400) reply.headers.emplace_back("Location", "/api/vault/elsewhere");
  return reply;
}

std::string Exchange::render_whole() const {
  return render_head(reply_, persistence(), service_->clock.wall()).append(body_of(reply_));
}

Persistence Exchange::persistence() const {
  return Persistence{request_.keep_alive && !service_->stopping, service_->idle};
}

LogLine Exchange::line(std::string_view event) const {
  LogLine entry;
  entry.seq = seq_;
  entry.conn = conn_;
  entry.event = event;
  entry.method = request_.method;
  entry.target = request_.path;
  entry.path = call_.path;
  entry.request_id = header_or_empty(request_, "x-request-id");
  entry.idempotency_key = header_or_empty(request_, "idempotency-key");
  entry.fence = header_or_empty(request_, "intray-fence");
  return entry;
}

std::string answer_refusal(Service& service, std::uint64_t conn, const Refusal& refusal) {
  LogLine entry;
  entry.seq = ++service.last_seq;
  entry.conn = conn;
  entry.event = "refused";
  entry.status = refusal.status;
  entry.why = refusal.reason;
  service.log.write(entry, service.clock.wall());
  const Reply reply = error_reply(refusal.status, refusal.reason);
  return render_head(reply, Persistence{false, service.idle}, service.clock.wall()).append(reply.body);
}

}  // namespace intray::vault_receiver
