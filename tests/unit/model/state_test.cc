#include "model/state.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace intray::model {
namespace {

constexpr std::array kAllStates = {State::kCreated,   State::kReady,     State::kClaimed,
                                   State::kExecuting, State::kRetryable, State::kSucceeded,
                                   State::kFailed,    State::kRejected,  State::kUnknown};
constexpr std::array kAllEvents = {Event::kAdmit,   Event::kRefuse,     Event::kClaim,      Event::kWithdraw,
                                   Event::kStart,   Event::kWorkerLost, Event::kConfirm,    Event::kNoEffect,
                                   Event::kDeny,    Event::kLose,       Event::kRetry,      Event::kExhaust,
                                   Event::kResolve, Event::kRerun,      Event::kMarkerFound};
static_assert(kAllStates.size() == kStates);
static_assert(kAllEvents.size() == static_cast<std::size_t>(Event::kMarkerFound) + 1);

// What the documentation's table says, written as a list of questions and not as the rows that the code holds.
std::string expected_row(bool save, State from, Event event, State to, bool attempted, bool may_have_effect) {
  const std::string move = std::string(to_word(from)) + ">" + std::string(to_word(to));
  switch (event) {
    case Event::kAdmit: return move == "CREATED>READY" ? "J01" : "";
    case Event::kRefuse: return move == "CREATED>REJECTED" ? "J02" : "";
    case Event::kClaim:
      if (move == "READY>CLAIMED") return "J03";
      return save && move == "RETRYABLE>CLAIMED" ? "J15" : "";
    case Event::kWithdraw:
      if (may_have_effect) return move == "READY>OUTCOME_UNKNOWN" ? "J20" : "";
      return move == "READY>REJECTED" ? "J04" : "";
    case Event::kStart: return move == "CLAIMED>EXECUTING" ? "J05" : "";
    case Event::kWorkerLost:
      if (!save) {
        if (move == "CLAIMED>OUTCOME_UNKNOWN") return "J08";
        return move == "EXECUTING>OUTCOME_UNKNOWN" ? "J12" : "";
      }
      if (move == "CLAIMED>READY") return attempted ? "" : "J06";
      if (move == "CLAIMED>RETRYABLE") return attempted ? "J07" : "";
      return move == "EXECUTING>EXECUTING" ? "J14" : "";
    case Event::kConfirm: return move == "EXECUTING>SUCCEEDED" ? "J09" : "";
    case Event::kNoEffect: return move == "EXECUTING>FAILED" && !may_have_effect ? "J10" : "";
    case Event::kDeny: return move == "EXECUTING>REJECTED" && !may_have_effect ? "J11" : "";
    case Event::kLose: return move == "EXECUTING>OUTCOME_UNKNOWN" ? "J12" : "";
    case Event::kRetry: return save && move == "EXECUTING>RETRYABLE" ? "J13" : "";
    case Event::kExhaust:
      if (!save) return "";
      if (may_have_effect) return move == "RETRYABLE>OUTCOME_UNKNOWN" ? "J17" : "";
      return move == "RETRYABLE>FAILED" ? "J16" : "";
    case Event::kResolve: return move == "OUTCOME_UNKNOWN>SUCCEEDED" || move == "OUTCOME_UNKNOWN>FAILED" ? "J18" : "";
    case Event::kRerun: return move == "OUTCOME_UNKNOWN>READY" ? "J19" : "";
    case Event::kMarkerFound: return move == "READY>OUTCOME_UNKNOWN" ? "J20" : "";
  }
  return "?";
}

TEST_CASE("state: every pair of states, cause, kind and side condition is allowed or refused as documented") {
  int allowed = 0;
  for (const JobKind kind : {JobKind::kSave, JobKind::kDelete})
    for (const State from : kAllStates)
      for (const State to : kAllStates) {
        bool any = false;
        for (const Event event : kAllEvents)
          for (const bool attempted : {false, true})
            for (const bool may_have_effect : {false, true}) {
              const Edge* edge = find_edge(kind, from, event, to, attempted, may_have_effect);
              const std::string row = edge == nullptr ? "" : std::string(edge->row);
              const std::string expected =
                  expected_row(kind == JobKind::kSave, from, event, to, attempted, may_have_effect);
              INFO(to_word(kind) << " " << to_word(from) << " > " << to_word(to) << ", event "
                                 << static_cast<int>(event) << ", attempted " << attempted << ", may_have_effect "
                                 << may_have_effect);
              REQUIRE(row == expected);
              any = any || edge != nullptr;
              allowed += edge != nullptr;
            }
        REQUIRE(is_edge(kind, from, to) == any);
      }
  CHECK(allowed == 124);  // counted from the table: 68 of SAVE, 56 of DELETE
}

TEST_CASE("state: each row of the documentation occurs, J12, J18 and J20 twice") {
  std::multiset<std::string> rows;
  for (const Edge& e : kEdges) rows.insert(std::string(e.row));
  for (int i = 1; i <= 20; ++i) {
    const std::string row = (i < 10 ? "J0" : "J") + std::to_string(i);
    INFO(row);
    CHECK(rows.count(row) == (i == 12 || i == 18 || i == 20 ? 2U : 1U));
  }
  CHECK(rows.size() == 23);
}

TEST_CASE("state: words round-trip and nothing else is a word") {
  for (const State s : kAllStates) CHECK(parse_state(to_word(s)) == s);
  CHECK(to_word(State::kUnknown) == "OUTCOME_UNKNOWN");
  CHECK(to_word(State::kRetryable) == "RETRYABLE");
  for (const std::string_view other : {"", "ready", "READY ", "UNKNOWN", "READYX"}) CHECK(!parse_state(other));
  CHECK(parse_kind("save") == JobKind::kSave);
  CHECK(parse_kind("delete") == JobKind::kDelete);
  CHECK(!parse_kind("SAVE"));
  CHECK(!parse_kind(""));
  CHECK(job_type_of(JobKind::kSave) == "C5_SAVE_OBJECT");
  CHECK(job_type_of(JobKind::kDelete) == "C5_DELETE_OBJECT");
}

TEST_CASE("state: ended, final and active states do not overlap") {
  for (const State s : kAllStates) {
    INFO(to_word(s));
    CHECK(!(is_ended(s) && is_active(s)));
    CHECK(is_ended(s) == (is_final(s) || s == State::kUnknown));
  }
  CHECK(!is_final(State::kUnknown));
  CHECK(!is_active(State::kReady));
}

}  // namespace
}  // namespace intray::model
