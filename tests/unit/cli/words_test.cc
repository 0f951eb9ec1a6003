#include "cli/words.h"

#include <catch2/catch.hpp>
#include <set>

#include "cli/exit_code.h"
#include "cli/explain.h"
#include "model/reason.h"
#include "test_console.h"

using namespace intray;
using namespace intray::cli;

TEST_CASE("all_words: every reason, result, state and exit code, each with a sentence") {
  const std::vector<Explained> all = all_words();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Explained& e : all) {
    INFO(e.word);
    CHECK(e.what_happened.ends_with('.'));
    CHECK(seen.insert({e.group, e.word}).second);
  }
  for (const model::ReasonDoc& doc : model::all_reasons()) CHECK(seen.contains({"reason", std::string(doc.word)}));
  for (int i = 0; i < model::kStates; ++i)
    CHECK(seen.contains({"state", std::string(model::to_word(static_cast<model::State>(i)))}));
  for (const ExitDoc& doc : kExitDocs) CHECK(seen.contains({"exit code of intray", std::to_string(doc.code)}));
  for (const ExitDoc& doc : kExecutorExitDocs)
    CHECK(seen.contains({"exit code of an executor", std::to_string(doc.code)}));
  for (const char* word : {"APPLIED", "ALREADY_AT_TARGET", "IDEMPOTENT_REPLAY", "OBSERVED_APPLIED", "RESOLVED_APPLIED",
                           "RESOLVED_NOT_APPLIED", "NO_EFFECT", "DELETE_DENIED", "REFUSED", "UNKNOWN"})
    CHECK(seen.contains({"result", word}));
}

TEST_CASE("explain: any letter case; an unknown code names the nearest") {
  TestConsole test;
  CHECK(run_explain(test.console, "stale_source", {}) == kDone);
  CHECK(test.out.str().starts_with("STALE_SOURCE (reason)\n    "));
  CHECK(test.out.str().find("Effect: The job had no effect.") != std::string::npos);
  TestConsole unknown;
  CHECK(run_explain(unknown.console, "STALE_SURCE", {}) == kNo);
  CHECK(unknown.out.str().empty());
  CHECK(unknown.err.str() == "intray: STALE_SURCE: not a code of intray; did you mean STALE_SOURCE?\n");
  TestConsole odd;
  CHECK(run_explain(odd.console, "\x1b[31m", {}) == kNo);
  CHECK(odd.err.str().find('\x1b') == std::string::npos);
}

TEST_CASE("explain: a command that a text names and this version lacks is said to be missing") {
  TestConsole lacks;
  CHECK(run_explain(lacks.console, "RESPONSE_LOST", {"show"}) == kDone);
  CHECK(lacks.out.str().find("\n    Not in this version: intray resolve.\n") != std::string::npos);
  TestConsole has;
  CHECK(run_explain(has.console, "RESPONSE_LOST", {"resolve"}) == kDone);
  CHECK(has.out.str().find("Not in this version") == std::string::npos);
}

TEST_CASE("explain: an exit code that intray and an executor both have is explained twice") {
  TestConsole test;
  CHECK(run_explain(test.console, "75", {}) == kDone);
  CHECK(test.out.str().find("75 (exit code of intray)") != std::string::npos);
  CHECK(test.out.str().find("75 (exit code of an executor)") != std::string::npos);
}

TEST_CASE("explain --json: one object a line") {
  TestConsole test;
  test.console.json = true;
  CHECK(run_explain(test.console, "12", {}) == kDone);
  CHECK(test.out.str().starts_with(R"({"effect":null,"group":"exit code of intray","what_happened":")"));
  CHECK(test.out.str().ends_with("}\n"));
}

TEST_CASE("state_of: words in any letter case, and the short one") {
  CHECK(state_of("ready") == model::State::kReady);
  CHECK(state_of("Unknown") == model::State::kUnknown);
  CHECK(state_of("OUTCOME_UNKNOWN") == model::State::kUnknown);
  CHECK_FALSE(state_of("NEW"));
  CHECK_FALSE(state_of(""));
}

TEST_CASE("exit codes of a wait: the worst counts, in the documented order") {
  using model::State;
  CHECK(exit_code_of(State::kSucceeded) == 0);
  CHECK(exit_code_of(State::kFailed) == 10);
  CHECK(exit_code_of(State::kRejected) == 11);
  CHECK(exit_code_of(std::optional<State>()) == 75);
  CHECK(exit_code_of(State::kUnknown) == 12);
  constexpr auto kOrder = std::to_array({0, 10, 11, 75, 12});
  for (std::size_t a = 0; a < kOrder.size(); ++a)
    for (std::size_t b = 0; b < kOrder.size(); ++b) CHECK(worse_wait(kOrder[a], kOrder[b]) == kOrder[std::max(a, b)]);
}

TEST_CASE("exit_code_of an error: try again, or not readable") {
  using base::ErrorCode;
  CHECK(exit_code_of(base::Error{.code = ErrorCode::kBusy, .what = ""}) == 75);
  CHECK(exit_code_of(base::Error{.code = ErrorCode::kNoSpace, .what = ""}) == 75);
  CHECK(exit_code_of(base::Error{.code = ErrorCode::kDenied, .what = ""}) == 4);
  CHECK(exit_code_of(base::Error{.code = ErrorCode::kCorrupt, .what = ""}) == 4);
}
