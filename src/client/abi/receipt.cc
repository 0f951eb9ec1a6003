#include "client/abi/handles.h"

namespace intray::client::abi {
namespace {

std::unique_ptr<intray_receipt> handle_of(const model::Receipt& receipt) {
  auto out = std::make_unique<intray_receipt>();
  out->job_id = receipt.job_id ? receipt.job_id->str() : "";
  out->job_sha256 = receipt.job_sha256 ? receipt.job_sha256->hex() : "";
  out->result = model::to_word(receipt.result);
  if (receipt.reason) out->reason = model::to_word(*receipt.reason);
  out->json = model::to_line(receipt);
  out->receipt = receipt;
  return out;
}

// News, or the end of the time, or of the jobs. The waiter is open.
int next_of(client::Waiter& waiter, std::int64_t timeout_us, intray_receipt** receipt, intray_error** error) {
  const base::SystemClock clock;
  const base::BootTime start = clock.boot();
  while (true) {
    if (auto polled = waiter.poll(); !polled) return fail(error, polled.error());
    if (const model::Receipt* news = waiter.news()) {
      auto made = handle_of(*news);
      waiter.drop_news();
      *receipt = made.release();
      return INTRAY_OK;
    }
    if (waiter.all_ended()) return INTRAY_NONE_LEFT;
    const base::Micros spent = clock.boot() - start;
    if (timeout_us >= 0 && spent >= base::Micros{timeout_us}) return INTRAY_TIMEOUT;
    waiter.pause(timeout_us < 0 ? base::Micros::max() : base::Micros{timeout_us} - spent);
  }
}

int null_argument(intray_error** error) { return fail(error, INTRAY_INVALID_ARGUMENT, "an argument is NULL"); }

}  // namespace
#pragma GCC visibility push(default)
extern "C" {

int intray_receipt_state(const intray_receipt* receipt) {
  switch (receipt->receipt.state) {
    case model::State::kSucceeded: return INTRAY_STATE_SUCCEEDED;
    case model::State::kFailed: return INTRAY_STATE_FAILED;
    case model::State::kRejected: return INTRAY_STATE_REJECTED;
    default: return INTRAY_STATE_UNKNOWN;  // no other state has receipts
  }
}
const char* intray_receipt_result(const intray_receipt* receipt) { return receipt->result.c_str(); }
const char* intray_receipt_reason(const intray_receipt* receipt) {
  return receipt->reason.empty() ? nullptr : receipt->reason.c_str();
}
const char* intray_receipt_detail(const intray_receipt* receipt) {
  const auto& detail = receipt->receipt.evidence.detail;
  return detail ? detail->c_str() : nullptr;
}
const char* intray_receipt_job_id(const intray_receipt* receipt) { return receipt->job_id.c_str(); }
const char* intray_receipt_job_sha256(const intray_receipt* receipt) { return receipt->job_sha256.c_str(); }
int64_t intray_receipt_audit_seq(const intray_receipt* receipt) { return receipt->receipt.audit_seq.value; }
int64_t intray_receipt_attempts(const intray_receipt* receipt) { return receipt->receipt.attempts; }
int64_t intray_receipt_admitted_at_us(const intray_receipt* receipt) {
  return base::to_us(receipt->receipt.admitted_at);
}
int64_t intray_receipt_finished_at_us(const intray_receipt* receipt) {
  return base::to_us(receipt->receipt.finished_at);
}
const char* intray_receipt_json(const intray_receipt* receipt) { return receipt->json.c_str(); }
void intray_receipt_free(intray_receipt* receipt) {
  delete receipt;  // NOLINT(cppcoreguidelines-owning-memory): a handle's owner is the caller
}

int intray_waiter_new(intray_inbox* inbox, intray_waiter** waiter, intray_error** error) {
  if (waiter != nullptr) *waiter = nullptr;
  return guarded(error, [&]() -> int {
    if (inbox == nullptr || waiter == nullptr) return null_argument(error);
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): a handle's owner is the caller
    *waiter = new intray_waiter{.root = inbox->root, .kind = inbox->kind, .waiter = {}, .open = false};
    return INTRAY_OK;
  });
}

int intray_waiter_add(intray_waiter* waiter, const intray_job* job, intray_error** error) {
  return guarded(error, [&]() -> int {
    if (waiter == nullptr || job == nullptr) return null_argument(error);
    if (job->draft.kind != waiter->kind)
      return fail(error, INTRAY_INVALID_ARGUMENT, "the job is of another kind than the inbox");
    waiter->waiter.add(job->draft.name.job_id, base::sha256(job->draft.bytes), job->draft.name.created);
    waiter->open = false;  // its receipt may be among those that were read and passed over
    return INTRAY_OK;
  });
}

int intray_waiter_add_id(intray_waiter* waiter, const char* job_id, const char* job_sha256, int64_t created_us,
                         intray_error** error) {
  return guarded(error, [&]() -> int {
    if (waiter == nullptr || job_id == nullptr || job_sha256 == nullptr) return null_argument(error);
    const auto id = base::JobId::parse(job_id);
    const auto sha256 = base::Sha256::parse(job_sha256);
    if (!id || !sha256 || created_us < 0)
      return fail(error, INTRAY_INVALID_ARGUMENT, "no UUID of version 4, no SHA-256 in lower-case hex, or no time");
    waiter->waiter.add(*id, *sha256, base::from_us(created_us));
    waiter->open = false;
    return INTRAY_OK;
  });
}

int intray_waiter_next(intray_waiter* waiter, int64_t timeout_us, intray_receipt** receipt, intray_error** error) {
  if (receipt != nullptr) *receipt = nullptr;
  return guarded(error, [&]() -> int {
    if (waiter == nullptr || receipt == nullptr) return null_argument(error);
    if (waiter->waiter.size() == 0) return INTRAY_NONE_LEFT;
    if (!waiter->open) {
      if (const auto opened = waiter->waiter.open(waiter->root, waiter->kind); !opened)
        return fail(error, opened.error());
    }
    waiter->open = false;  // whatever cuts this off: lines that were read and not understood are read again
    const int code = next_of(waiter->waiter, timeout_us, receipt, error);
    waiter->open = code == INTRAY_OK || code == INTRAY_TIMEOUT || code == INTRAY_NONE_LEFT;
    return code;
  });
}

size_t intray_waiter_pending(const intray_waiter* waiter) {
  return static_cast<size_t>(waiter->waiter.size() - waiter->waiter.ended());
}

void intray_waiter_free(intray_waiter* waiter) {
  delete waiter;  // NOLINT(cppcoreguidelines-owning-memory): a handle's owner is the caller
}

int intray_wait(intray_inbox* inbox, const intray_job* job, int64_t timeout_us, intray_receipt** receipt,
                intray_error** error) {
  if (receipt != nullptr) *receipt = nullptr;
  intray_waiter* made = nullptr;
  if (const int code = intray_waiter_new(inbox, &made, error); code != INTRAY_OK) return code;
  const std::unique_ptr<intray_waiter> waiter(made);
  if (const int code = intray_waiter_add(made, job, error); code != INTRAY_OK) return code;
  return intray_waiter_next(made, timeout_us, receipt, error);
}

}  // extern "C"
#pragma GCC visibility pop
}  // namespace intray::client::abi
