#include "cli/explain.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/json_line.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/words.h"
#include "config/nearest.h"

namespace intray::cli {
namespace {

constexpr int kTextColumnsMax = 100;  // longer lines are hard to read

// Words of a paragraph on lines of bounded width, each after `indent` blanks.
std::string wrapped(std::string_view text, int indent, int columns) {
  const int room = std::min(columns > 0 ? columns : kTextColumnsMax, kTextColumnsMax) - indent;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string out;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && width(line) + 1 + width(word) > room) {
      out += margin + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + margin + line + '\n';
}

std::string effect_sentence(const std::string& effect) {
  if (effect == "no") return "The job had no effect.";
  if (effect == "possible") return "The job may have taken effect.";
  return "Whether it can have taken effect depends on how far the job came; its state says so.";
}

void print_one(Console& console, const Explained& e) {
  if (console.json) {
    print_json(console,
               {{"word", e.word},
                {"group", e.group},
                {"effect", e.effect.empty() ? nlohmann::json(nullptr) : nlohmann::json(e.effect)},
                {"what_happened", e.what_happened},
                {"what_to_do", e.what_to_do.empty() ? nlohmann::json(nullptr) : nlohmann::json(e.what_to_do)}});
    return;
  }
  constexpr int kIndent = 4;
  console.out << console.paint(Colour::kBold, e.word) << " (" << e.group << ")\n"
              << wrapped(e.what_happened, kIndent, console.columns);
  if (!e.effect.empty()) console.out << wrapped("Effect: " + effect_sentence(e.effect), kIndent, console.columns);
  if (!e.what_to_do.empty()) console.out << wrapped("What to do: " + e.what_to_do, kIndent, console.columns);
}

void print_all(Console& console) {
  Table table(console, {{"WORD"}, {"GROUP"}, {"EFFECT"}, {"WHAT HAPPENED", Column::Fit::kCutEnd}});
  for (const Explained& e : all_words()) {
    if (console.json)
      print_one(console, e);
    else
      table.add({{e.word}, {e.group}, {e.effect}, {e.what_happened}});
  }
  table.finish();
}

}  // namespace

int run_explain(Console& console, const std::string& word) {
  if (word.empty()) {
    print_all(console);
    return kDone;
  }
  const std::vector<Explained> found = explain_word(word);
  for (const Explained& e : found) print_one(console, e);
  if (!found.empty()) return kDone;
  const std::vector<Explained> all = all_words();
  std::vector<std::string_view> known;
  for (const Explained& e : all)
    if (e.group != "exit code") known.push_back(e.word);
  const auto guess = config::nearest(word, known);
  complain(console,
           base::escape(word) + ": not a code of intray; " +
               (guess ? "did you mean " + std::string(*guess) + "?" : std::string("'intray explain' lists them all")));
  return kNo;
}

}  // namespace intray::cli
