// Purpose:    what an answer of the receiver proves: the classification table, as data with named rows.
// Trust:      the answer is untrusted input; everything not on the closed list of proofs leaves an effect possible.
// Thread use: pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "model/reason.h"
#include "model/state.h"

namespace intray::model {

// How the exchange went, before status codes are looked at.
enum class Transport {
  kNotSent,   // no connection, or it broke before the first byte of the request reached the kernel
  kTls,       // TLS or certificate failure: the handshake comes before the first byte
  kRefused,   // the pre-request callback refused the first call: grant or lease expired, epoch lost
  kLost,      // bytes sent, then reset, closed, timed out, or an answer that can't be read as one
  kAnswered,  // a complete, well-formed HTTP answer within the limits
};

struct Answer {
  Transport transport = Transport::kNotSent;
  int http_status = 0;         // where answered
  bool expected_body = false;  // 2xx: the body is exactly what this mutation's success looks like
};

// What the target looks like when read.
enum class ReadBack { kEqual, kOther, kUnavailable };

enum class Effect { kNone, kLikely, kPossible };

// What is done next with the job.
enum class Next {
  kWait,                // nothing left the machine: J13 with may_have_effect as before, the breaker counts it
  kWaitAndSuspend,      // as kWait, and the executor suspends (TLS)
  kFail,                // J10, confirmed no effect
  kFailAndSuspend,      // J10, and the executor suspends (credential refused)
  kRetryLater,          // J13, effect impossible, not before Retry-After
  kRetryAfterReadBack,  // effect possible: read back (after the settle time where the answer was lost), see settle()
  kVerify,              // read back decides the end at once, see settle(); never RETRYABLE
  kUnknown,             // J12 at once (DELETE)
  kUnknownAndSuspend,   // as kUnknown, and the executor suspends (DELETE, TLS)
};

struct OutcomeRow {
  std::string_view name;  // stable; tests quote it
  Transport transport;
  int status_first;  // inclusive range, 0-0 where no status counts
  int status_last;
  std::optional<bool> expected_body;  // nullopt: any
  Effect effect;
  Next save;
  Next del;
  Reason reason;                  // where the job ends, or waits, for this reason
  bool settle;                    // the read-back counts as OTHER only after the settle time on a closed connection
  std::optional<State> on_other;  // where a read-back that finds something else ends a SAVE; nullopt: none is asked for
};

// The whole table, for documentation and tests.
std::span<const OutcomeRow> outcome_rows();
// In order; the first row that matches decides. The last row matches everything. DELETE's column is that of a reserved
// approval with `delete.unavailable = "unknown"`: before a reservation, or with "failed", the executor ends a DELETE
// whose transport is kNotSent or kTls as FAILED instead.
const OutcomeRow& classify(const Answer& answer);

// The end that a read-back gives to a row whose Next asks for one (kVerify, kRetryAfterReadBack); a DELETE's kUnknown
// stays what it is. For any other Next there is nothing to settle: our own mistake, aborts.
struct Settled {
  State to;  // kSucceeded, kFailed, kRetryable or kUnknown
  std::optional<Reason> reason;
  std::optional<ResultWord> result;
  bool may_have_effect;  // of RETRYABLE: a read-back comes first next time; always true of OUTCOME_UNKNOWN
};
Settled settle(JobKind kind, const OutcomeRow& row, ReadBack read_back);

}  // namespace intray::model
