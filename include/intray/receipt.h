// Purpose:    waits for receipts: how jobs ended, which is all that a requester learns.
// Process:    a requester's: it needs to read receipts/ of the inbox.
// Trust:      a receipt answers for a job by its job_id and its bytes' SHA-256 together; of several, the one with the
//             highest audit_seq counts.
// Thread use: a Receipt is a value; a Waiter belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "error.h"
#include "submit.h"

namespace intray {

enum class State {
  kSucceeded = INTRAY_STATE_SUCCEEDED,
  kFailed = INTRAY_STATE_FAILED,      // nothing has changed at the receiver
  kRejected = INTRAY_STATE_REJECTED,  // by a rule or a gate; nothing was sent
  kUnknown = INTRAY_STATE_UNKNOWN     // nobody can say; a person resolves it, which brings a further receipt
};

struct Receipt {
  State state = State::kUnknown;
  std::string result;                 // "APPLIED", "REFUSED", …
  std::optional<std::string> reason;  // a reason code
  std::optional<std::string> detail;  // for people, escaped
  std::string job_id;
  std::string job_sha256;
  std::int64_t audit_seq = 0;
  std::int64_t attempts = 0;
  std::chrono::system_clock::time_point admitted_at;
  std::chrono::system_clock::time_point finished_at;
  std::string json;  // the whole line
};

class Waiter {
 public:
  static Result<Waiter> make(const Inbox& inbox) {
    intray_waiter* waiter = nullptr;
    intray_error* error = nullptr;
    const int code = intray_waiter_new(inbox.handle(), &waiter, &error);
    if (code != INTRAY_OK) return detail::take_error(code, error);
    return Waiter(waiter);
  }

  // At any time, also between two waits. nullopt: done. The job may go away then.
  std::optional<Error> add(const Job& job) {
    intray_error* error = nullptr;
    const int code = intray_waiter_add(waiter_.get(), job.handle(), &error);
    return failure(code, error);
  }
  // For a job known by its ids alone. `created`: its created_at or any time before.
  std::optional<Error> add(const std::string& job_id, const std::string& job_sha256,
                           std::chrono::system_clock::time_point created) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(created.time_since_epoch()).count();
    intray_error* error = nullptr;
    const int code = intray_waiter_add_id(waiter_.get(), job_id.c_str(), job_sha256.c_str(), us, &error);
    return failure(code, error);
  }

  // The receipt of the next job that ended. `timeout` 0 looks once, nullopt waits as long as it takes. kTimeout: none
  // ended yet. kNoneLeft: each was given; a later receipt of a job is given too, while others are waited for.
  Result<Receipt> next(std::optional<std::chrono::microseconds> timeout = std::nullopt) {
    intray_receipt* receipt = nullptr;
    intray_error* error = nullptr;
    const std::int64_t us = !timeout ? -1 : timeout->count() < 0 ? 0 : timeout->count();
    const int code = intray_waiter_next(waiter_.get(), us, &receipt, &error);
    if (code != INTRAY_OK) return detail::take_error(code, error);
    return read(receipt);
  }

  // Jobs that have no receipt yet, by what was read so far.
  std::size_t pending() const { return intray_waiter_pending(waiter_.get()); }

 private:
  struct Free {
    void operator()(intray_waiter* waiter) const { intray_waiter_free(waiter); }
    void operator()(intray_receipt* receipt) const { intray_receipt_free(receipt); }
  };
  explicit Waiter(intray_waiter* waiter) : waiter_(waiter) {}
  static std::optional<Error> failure(int code, intray_error* error) {
    if (code == INTRAY_OK) return std::nullopt;
    return detail::take_error(code, error);
  }
  static std::optional<std::string> text(const char* text) {
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  }
  static std::chrono::system_clock::time_point time(std::int64_t us) {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::microseconds(us)));
  }
  static Receipt read(intray_receipt* handle) {
    const std::unique_ptr<intray_receipt, Free> receipt(handle);
    Receipt out;
    out.state = static_cast<State>(intray_receipt_state(handle));
    out.result = intray_receipt_result(handle);
    out.reason = text(intray_receipt_reason(handle));
    out.detail = text(intray_receipt_detail(handle));
    out.job_id = intray_receipt_job_id(handle);
    out.job_sha256 = intray_receipt_job_sha256(handle);
    out.audit_seq = intray_receipt_audit_seq(handle);
    out.attempts = intray_receipt_attempts(handle);
    out.admitted_at = time(intray_receipt_admitted_at_us(handle));
    out.finished_at = time(intray_receipt_finished_at_us(handle));
    out.json = intray_receipt_json(handle);
    return out;
  }
  std::unique_ptr<intray_waiter, Free> waiter_;
};

// Waits for one job.
inline Result<Receipt> wait(const Inbox& inbox, const Job& job,
                            std::optional<std::chrono::microseconds> timeout = std::nullopt) {
  Result<Waiter> waiter = Waiter::make(inbox);
  if (!waiter) return waiter.error();
  if (std::optional<Error> error = waiter->add(job)) return *error;
  return waiter->next(timeout);
}

}  // namespace intray
