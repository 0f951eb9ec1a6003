#include "cli/words.h"

#include <algorithm>

#include "cli/exit_code.h"
#include "cli/text.h"
#include "model/reason.h"

namespace intray::cli {
namespace {

using model::State;

constexpr auto kResults = std::to_array<model::ResultWord>(
    {model::ResultWord::kApplied, model::ResultWord::kAlreadyAtTarget, model::ResultWord::kIdempotentReplay,
     model::ResultWord::kObservedApplied, model::ResultWord::kResolvedApplied, model::ResultWord::kResolvedNotApplied,
     model::ResultWord::kNoEffect, model::ResultWord::kDeleteDenied, model::ResultWord::kRefused,
     model::ResultWord::kUnknown});

std::string word_of(model::EffectPossible effect) {
  switch (effect) {
    case model::EffectPossible::kNo: return "no";
    case model::EffectPossible::kYes: return "possible";
    case model::EffectPossible::kDepends: return "depends";
  }
  return {};
}

}  // namespace

std::string_view explain(State state) {
  switch (state) {
    case State::kCreated: return "The job has arrived and is being checked.";
    case State::kReady: return "The job is admitted and waits for its turn.";
    case State::kClaimed: return "A worker has the job and checks it against its sources. Nothing has been sent.";
    case State::kExecuting: return "The attempt is recorded, and its request is being sent or its answer checked.";
    case State::kRetryable: return "An attempt did not get through; the job waits to be tried again.";
    case State::kSucceeded: return "The receiver holds what the job asked for. This was confirmed by reading it back.";
    case State::kFailed: return "The job ended, and it is confirmed that it had no effect.";
    case State::kRejected: return "The job was refused before anything was sent. It had no effect.";
    case State::kUnknown:
      return "Something was sent, and nobody can say whether it took effect. The job stays so until a person looks at "
             "the receiver.";
  }
  return {};
}

Colour colour_of(State state) {
  switch (state) {
    case State::kUnknown: return Colour::kRed;
    case State::kFailed:
    case State::kRejected:
    case State::kRetryable: return Colour::kYellow;
    case State::kClaimed:
    case State::kExecuting: return Colour::kBlue;
    case State::kSucceeded: return Colour::kGreen;
    case State::kCreated:
    case State::kReady: break;
  }
  return Colour::kNone;
}

std::optional<State> state_of(std::string_view word) {
  const std::string name = upper(word);
  return name == "UNKNOWN" ? State::kUnknown : model::parse_state(name);
}

std::vector<Explained> all_words() {
  std::vector<Explained> out;
  for (int i = 0; i < model::kStates; ++i) {
    const auto state = static_cast<State>(i);
    out.push_back(
        {std::string(model::to_word(state)), "state", "", std::string(explain(state)),
         state == State::kUnknown ? "'intray show JOB' tells what was tried; compare the receiver with it." : ""});
  }
  for (const model::ResultWord result : kResults)
    out.push_back({std::string(model::to_word(result)), "result", "", std::string(model::explain(result)), ""});
  for (const model::ReasonDoc& doc : model::all_reasons())
    out.push_back({std::string(doc.word), "reason", word_of(doc.effect), std::string(doc.what_happened),
                   std::string(doc.what_to_do)});
  const auto add_exit_codes = [&](const auto& docs, const char* group) {
    for (const ExitDoc& doc : docs)
      out.push_back({std::to_string(doc.code), group, "",
                     upper(doc.meaning.substr(0, 1)) + std::string(doc.meaning.substr(1)) + ".", ""});
  };
  add_exit_codes(kExitDocs, "exit code of intray");
  add_exit_codes(kExecutorExitDocs, "exit code of an executor");
  return out;
}

std::vector<Explained> explain_word(std::string_view word) {
  std::vector<Explained> out;
  const std::string name = upper(word);
  for (Explained& candidate : all_words())
    if (candidate.word == name) out.push_back(std::move(candidate));
  return out;
}

}  // namespace intray::cli
