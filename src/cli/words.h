// Purpose:    every word a person may meet and ask about: reason codes, result words, states, exit codes.
// Thread use: constant data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "model/state.h"

namespace intray::cli {

// One sentence or two on what a job in this state is doing.
std::string_view explain(model::State state);
// How loud a state is shown.
Colour colour_of(model::State state);

// A state by its word, in any letter case; "UNKNOWN" is OUTCOME_UNKNOWN.
std::optional<model::State> state_of(std::string_view word);

struct Explained {
  std::string word;
  std::string group;   // "reason", "result", "state", "exit code"
  std::string effect;  // of a reason: "no", "possible", "depends"; else ""
  std::string what_happened;
  std::string what_to_do;  // "" where there is nothing to do
};
// Everything this word means (a word may be a state and a result), letter case aside.
std::vector<Explained> explain_word(std::string_view word);
std::vector<Explained> all_words();

}  // namespace intray::cli
