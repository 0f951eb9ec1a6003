// Purpose:    the states of a job and the one table of legal moves between them.
// Trust:      nothing else in the tree knows the edges; the ledger's trigger is generated from the same rows and a test
//             holds both together.
// Thread use: constant data.
//
//   CREATED ─► READY ─► CLAIMED ─► EXECUTING ─► SUCCEEDED
//      │         ▲         │           ├──────► FAILED            confirmed: no effect
//      │         │         │           ├──────► REJECTED          a gate said no
//      │         └─────────┤           ├──────► OUTCOME_UNKNOWN   nobody can say
//      └─► REJECTED        │           └──────► RETRYABLE ─► CLAIMED   (SAVE only)
//                          └─► OUTCOME_UNKNOWN  (DELETE whose worker died)
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace intray::model {

enum class JobKind : std::uint8_t { kSave, kDelete };
std::string_view to_word(JobKind kind);      // "save", "delete": directories, bindings, tools
std::string_view job_type_of(JobKind kind);  // "C5_SAVE_OBJECT", "C5_DELETE_OBJECT": the contract's word
std::optional<JobKind> parse_kind(std::string_view word);

enum class State : std::uint8_t {
  kCreated,
  kReady,
  kClaimed,
  kExecuting,
  kRetryable,
  kSucceeded,
  kFailed,
  kRejected,
  kUnknown,  // "OUTCOME_UNKNOWN"
};
inline constexpr int kStates = 9;
std::string_view to_word(State state);  // "READY", …, "OUTCOME_UNKNOWN"
std::optional<State> parse_state(std::string_view word);

// SUCCEEDED, FAILED, REJECTED. OUTCOME_UNKNOWN is an end for the executor, not for a person.
constexpr bool is_final(State s) { return s == State::kSucceeded || s == State::kFailed || s == State::kRejected; }
constexpr bool is_ended(State s) { return is_final(s) || s == State::kUnknown; }
// In a worker's hands or due to be again: no second job for the same object or path may be claimed.
constexpr bool is_active(State s) { return s == State::kClaimed || s == State::kExecuting || s == State::kRetryable; }

// Why a job moves. One row of the table per (from, event, kind, side condition).
enum class Event : std::uint8_t {
  kAdmit,        // schema, canonical form, idempotency and admission rules hold
  kRefuse,       // one of them doesn't
  kClaim,        // the claim's compare-and-swap
  kWithdraw,     // by an admin, or past the deadline, before a claim
  kStart,        // gates evaluated, lease held
  kWorkerLost,   // the holder died
  kConfirm,      // effect confirmed, found at target, or following a first job that succeeded
  kNoEffect,     // confirmed: no effect by any attempt
  kDeny,         // a gate failed before the attempt
  kLose,         // an effect is possible and can't be confirmed
  kRetry,        // transient
  kExhaust,      // attempts or deadline used up
  kResolve,      // an admin's resolution, with evidence
  kRerun,        // an admin's rerun
  kMarkerFound,  // a marker shows an attempt that the ledger lost
};

enum class Kinds : std::uint8_t { kSave, kDelete, kBoth };

// What must be true of the job besides state, event and kind. Unconditional rows say kAny.
enum class Side : std::uint8_t {
  kAny,
  kNeverAttempted,    // no attempt was ever recorded
  kAttempted,         // an earlier attempt was recorded
  kNoEffectPossible,  // may_have_effect is false
  kEffectPossible,    // may_have_effect is true
};

struct Edge {
  std::string_view row;  // "J05"; stable: logs, tests, docs and the audit quote it
  State from;
  Event event;
  State to;
  Kinds kinds;
  Side side;
};

// Every legal move of a job. J18 has two ends, so it has two rows.
inline constexpr auto kEdges = std::to_array<Edge>({
    {"J01", State::kCreated, Event::kAdmit, State::kReady, Kinds::kBoth, Side::kAny},
    {"J02", State::kCreated, Event::kRefuse, State::kRejected, Kinds::kBoth, Side::kAny},
    {"J03", State::kReady, Event::kClaim, State::kClaimed, Kinds::kBoth, Side::kAny},
    {"J04", State::kReady, Event::kWithdraw, State::kRejected, Kinds::kBoth, Side::kNoEffectPossible},
    {"J05", State::kClaimed, Event::kStart, State::kExecuting, Kinds::kBoth, Side::kAny},
    {"J06", State::kClaimed, Event::kWorkerLost, State::kReady, Kinds::kSave, Side::kNeverAttempted},
    {"J07", State::kClaimed, Event::kWorkerLost, State::kRetryable, Kinds::kSave, Side::kAttempted},
    {"J08", State::kClaimed, Event::kWorkerLost, State::kUnknown, Kinds::kDelete, Side::kAny},
    {"J09", State::kExecuting, Event::kConfirm, State::kSucceeded, Kinds::kBoth, Side::kAny},
    {"J10", State::kExecuting, Event::kNoEffect, State::kFailed, Kinds::kBoth, Side::kNoEffectPossible},
    {"J11", State::kExecuting, Event::kDeny, State::kRejected, Kinds::kBoth, Side::kNoEffectPossible},
    {"J12", State::kExecuting, Event::kLose, State::kUnknown, Kinds::kBoth, Side::kAny},
    {"J13", State::kExecuting, Event::kRetry, State::kRetryable, Kinds::kSave, Side::kAny},
    {"J14", State::kExecuting, Event::kWorkerLost, State::kExecuting, Kinds::kSave, Side::kAny},
    {"J15", State::kRetryable, Event::kClaim, State::kClaimed, Kinds::kSave, Side::kAny},
    {"J16", State::kRetryable, Event::kExhaust, State::kFailed, Kinds::kSave, Side::kNoEffectPossible},
    {"J17", State::kRetryable, Event::kExhaust, State::kUnknown, Kinds::kSave, Side::kEffectPossible},
    {"J18", State::kUnknown, Event::kResolve, State::kSucceeded, Kinds::kBoth, Side::kAny},
    {"J18", State::kUnknown, Event::kResolve, State::kFailed, Kinds::kBoth, Side::kAny},
    {"J19", State::kUnknown, Event::kRerun, State::kReady, Kinds::kBoth, Side::kAny},
    {"J20", State::kReady, Event::kWithdraw, State::kUnknown, Kinds::kBoth, Side::kEffectPossible},
    {"J20", State::kReady, Event::kMarkerFound, State::kUnknown, Kinds::kBoth, Side::kAny},
    // The worker of an executing DELETE died: the same row as any other lost outcome.
    {"J12", State::kExecuting, Event::kWorkerLost, State::kUnknown, Kinds::kDelete, Side::kAny},
});

constexpr bool applies_to(Kinds kinds, JobKind kind) {
  return kinds == Kinds::kBoth || (kinds == Kinds::kSave) == (kind == JobKind::kSave);
}

// The row that allows from → to for this kind and these facts, or nullptr: INVALID_TRANSITION.
const Edge* find_edge(JobKind kind, State from, Event event, State to, bool attempted, bool may_have_effect);
// Whether any row leads from → to for this kind, whatever the cause (what the database's trigger knows).
constexpr bool is_edge(JobKind kind, State from, State to) {
  for (const Edge& e : kEdges)
    if (e.from == from && e.to == to && applies_to(e.kinds, kind)) return true;
  return false;
}

namespace checks {
// No two rows answer the same question differently, except a resolution's two ends.
constexpr bool one_row_per_cause() {
  for (const Edge& a : kEdges)
    for (const Edge& b : kEdges) {
      if (&a == &b || a.from != b.from || a.event != b.event || a.event == Event::kResolve) continue;
      const bool kinds_meet = a.kinds == Kinds::kBoth || b.kinds == Kinds::kBoth || a.kinds == b.kinds;
      if (kinds_meet && (a.side == Side::kAny || b.side == Side::kAny || a.side == b.side)) return false;
    }
  return true;
}
constexpr bool final_states_stay() {
  for (const Edge& e : kEdges)
    if (is_final(e.from)) return false;
  return true;
}
// A started DELETE is never repeated: only a person's rerun brings one back.
constexpr bool no_delete_returns_without_resolution() {
  for (const Edge& e : kEdges) {
    const bool back = (e.to == State::kReady || e.to == State::kRetryable) && e.from != State::kCreated;
    if (back && e.event != Event::kRerun && applies_to(e.kinds, JobKind::kDelete)) return false;
  }
  return true;
}
constexpr bool rejected_and_failed_only_without_effect() {
  for (const Edge& e : kEdges) {
    const bool claims_none = e.to == State::kFailed || e.to == State::kRejected;
    if (claims_none && e.from != State::kCreated && e.event != Event::kResolve && e.side != Side::kNoEffectPossible)
      return false;
  }
  return true;
}
}  // namespace checks

static_assert(checks::one_row_per_cause());
static_assert(checks::final_states_stay());
static_assert(checks::no_delete_returns_without_resolution());
static_assert(checks::rejected_and_failed_only_without_effect());

}  // namespace intray::model
