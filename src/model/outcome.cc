#include "model/outcome.h"

#include <array>
#include <cstdlib>

namespace intray::model {
namespace {

constexpr auto kAny = std::optional<bool>{};
constexpr auto kNoReadBack = std::optional<State>{};

// clang-format off
constexpr auto kRows = std::to_array<OutcomeRow>({
    // name             transport             status    body   effect             SAVE                         DELETE                    reason                        settle OTHER
    {"not-sent",        Transport::kNotSent,    0,   0, kAny,  Effect::kNone,     Next::kWait,                 Next::kUnknown,           Reason::kReceiverUnavailable,  false, kNoReadBack},
    {"tls",             Transport::kTls,        0,   0, kAny,  Effect::kNone,     Next::kWaitAndSuspend,       Next::kUnknownAndSuspend, Reason::kReceiverTls,          false, kNoReadBack},
    {"grant-refused",   Transport::kRefused,    0,   0, kAny,  Effect::kNone,     Next::kRetryLater,           Next::kFail,              Reason::kLeaseExpired,         false, kNoReadBack},
    {"lost",            Transport::kLost,       0,   0, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kResponseLost,         true,  State::kRetryable},
    {"1xx-only",        Transport::kAnswered, 100, 199, kAny,  Effect::kPossible, Next::kVerify,               Next::kUnknown,           Reason::kResponseMalformed,    true,  State::kUnknown},
    {"2xx-expected",    Transport::kAnswered, 200, 299, true,  Effect::kLikely,   Next::kVerify,               Next::kVerify,            Reason::kVerifyMismatch,       false, State::kUnknown},
    {"2xx-other-body",  Transport::kAnswered, 200, 299, false, Effect::kPossible, Next::kVerify,               Next::kUnknown,           Reason::kResponseMalformed,    false, State::kUnknown},
    {"3xx",             Transport::kAnswered, 300, 399, kAny,  Effect::kPossible, Next::kVerify,               Next::kUnknown,           Reason::kResponseMalformed,    false, State::kUnknown},
    {"400",             Transport::kAnswered, 400, 400, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"401",             Transport::kAnswered, 401, 401, kAny,  Effect::kNone,     Next::kFailAndSuspend,       Next::kFailAndSuspend,    Reason::kReceiverUnauthorized, false, kNoReadBack},
    {"403",             Transport::kAnswered, 403, 403, kAny,  Effect::kNone,     Next::kFailAndSuspend,       Next::kFailAndSuspend,    Reason::kReceiverForbidden,    false, kNoReadBack},
    {"404",             Transport::kAnswered, 404, 404, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kTargetMissing,        false, kNoReadBack},
    {"405",             Transport::kAnswered, 405, 405, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"408",             Transport::kAnswered, 408, 408, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kReceiverError,        true,  State::kRetryable},
    {"409",             Transport::kAnswered, 409, 409, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kTargetConflict,       false, kNoReadBack},
    {"410",             Transport::kAnswered, 410, 410, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kTargetMissing,        false, kNoReadBack},
    {"412",             Transport::kAnswered, 412, 412, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kTargetConflict,       false, kNoReadBack},
    {"413",             Transport::kAnswered, 413, 413, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"415",             Transport::kAnswered, 415, 415, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"422",             Transport::kAnswered, 422, 422, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"425",             Transport::kAnswered, 425, 425, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kReceiverError,        true,  State::kRetryable},
    {"429",             Transport::kAnswered, 429, 429, kAny,  Effect::kNone,     Next::kRetryLater,           Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"431",             Transport::kAnswered, 431, 431, kAny,  Effect::kNone,     Next::kFail,                 Next::kFail,              Reason::kReceiverRefused,      false, kNoReadBack},
    {"4xx-other",       Transport::kAnswered, 400, 499, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kReceiverError,        true,  State::kRetryable},
    {"500",             Transport::kAnswered, 500, 500, kAny,  Effect::kPossible, Next::kVerify,               Next::kUnknown,           Reason::kReceiverError,        false, State::kFailed},
    {"503",             Transport::kAnswered, 503, 503, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kReceiverError,        true,  State::kRetryable},
    {"5xx-other",       Transport::kAnswered, 500, 599, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kReceiverError,        true,  State::kRetryable},
    {"anything-else",   Transport::kAnswered,   0,   0, kAny,  Effect::kPossible, Next::kRetryAfterReadBack,   Next::kUnknown,           Reason::kResponseMalformed,    true,  State::kRetryable},
});
// clang-format on

constexpr bool reads_back(Next next) { return next == Next::kVerify || next == Next::kRetryAfterReadBack; }

// A SAVE says FAILED without a look only where no effect is possible, and looks wherever one is.
constexpr bool looks_where_an_effect_is_possible() {
  for (const OutcomeRow& row : kRows)
    if ((row.effect != Effect::kNone) != reads_back(row.save) || reads_back(row.save) != row.on_other.has_value())
      return false;
  return true;
}
// No row sends a DELETE again, nor calls it FAILED where an effect is possible.
constexpr bool no_delete_is_repeated() {
  for (const OutcomeRow& row : kRows) {
    const bool fails = row.del == Next::kFail || row.del == Next::kFailAndSuspend;
    const bool unknown = row.del == Next::kUnknown || row.del == Next::kUnknownAndSuspend;
    if (!fails && !unknown && row.del != Next::kVerify) return false;
    if (fails && row.effect != Effect::kNone) return false;
  }
  return true;
}
static_assert(looks_where_an_effect_is_possible());
static_assert(no_delete_is_repeated());

bool matches(const OutcomeRow& row, const Answer& answer) {
  if (row.transport != answer.transport) return false;
  if (row.transport != Transport::kAnswered) return true;
  return row.status_first <= answer.http_status && answer.http_status <= row.status_last &&
         row.expected_body.value_or(answer.expected_body) == answer.expected_body;
}

Settled unknown(Reason reason) { return {State::kUnknown, reason, ResultWord::kUnknown, true}; }

}  // namespace

std::span<const OutcomeRow> outcome_rows() { return kRows; }

const OutcomeRow& classify(const Answer& answer) {
  for (const OutcomeRow& row : kRows)
    if (matches(row, answer)) return row;
  return kRows.back();
}

Settled settle(JobKind kind, const OutcomeRow& row, ReadBack read_back) {
  const Next next = kind == JobKind::kSave ? row.save : row.del;
  if (next == Next::kUnknown || next == Next::kUnknownAndSuspend) return unknown(row.reason);
  if (!reads_back(next) || !row.on_other) std::abort();
  const bool as_expected = row.effect == Effect::kLikely;
  switch (read_back) {
    case ReadBack::kEqual:
      return {State::kSucceeded, std::nullopt, as_expected ? ResultWord::kApplied : ResultWord::kObservedApplied,
              false};
    case ReadBack::kOther:
      if (*row.on_other == State::kRetryable) return {State::kRetryable, row.reason, std::nullopt, false};
      if (*row.on_other == State::kFailed) return {State::kFailed, row.reason, ResultWord::kNoEffect, false};
      return unknown(row.reason);
    case ReadBack::kUnavailable:
      if (next == Next::kRetryAfterReadBack) return {State::kRetryable, row.reason, std::nullopt, true};
      return unknown(as_expected ? Reason::kVerifyUnavailable : row.reason);
  }
  std::abort();
}

}  // namespace intray::model
