#include "model/state.h"

#include <cstdlib>

namespace intray::model {
namespace {

// Indexed by the enumeration.
constexpr std::array<std::string_view, kStates> kStateWords = {
    "CREATED", "READY", "CLAIMED", "EXECUTING", "RETRYABLE", "SUCCEEDED", "FAILED", "REJECTED", "OUTCOME_UNKNOWN"};
static_assert(static_cast<int>(State::kUnknown) == kStates - 1);

bool holds(Side side, bool attempted, bool may_have_effect) {
  switch (side) {
    case Side::kAny: return true;
    case Side::kNeverAttempted: return !attempted;
    case Side::kAttempted: return attempted;
    case Side::kNoEffectPossible: return !may_have_effect;
    case Side::kEffectPossible: return may_have_effect;
  }
  std::abort();
}

}  // namespace

std::string_view to_word(JobKind kind) { return kind == JobKind::kSave ? "save" : "delete"; }

std::string_view job_type_of(JobKind kind) { return kind == JobKind::kSave ? "C5_SAVE_OBJECT" : "C5_DELETE_OBJECT"; }

std::optional<JobKind> parse_kind(std::string_view word) {
  for (const JobKind kind : {JobKind::kSave, JobKind::kDelete})
    if (word == to_word(kind)) return kind;
  return std::nullopt;
}

std::string_view to_word(State state) { return kStateWords.at(static_cast<std::size_t>(state)); }

std::optional<State> parse_state(std::string_view word) {
  for (std::size_t i = 0; i < kStateWords.size(); ++i)
    if (kStateWords[i] == word) return static_cast<State>(i);
  return std::nullopt;
}

const Edge* find_edge(JobKind kind, State from, Event event, State to, bool attempted, bool may_have_effect) {
  for (const Edge& e : kEdges) {
    if (e.from == from && e.event == event && e.to == to && applies_to(e.kinds, kind) &&
        holds(e.side, attempted, may_have_effect))
      return &e;
  }
  return nullptr;
}

}  // namespace intray::model
