#include "cli/explain.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

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

// The commands that a text names and this version doesn't have, as a list; empty where it has them all.
std::string not_here(const std::string& text, const std::vector<std::string>& commands) {
  constexpr std::string_view kNamed = "`intray ";
  std::set<std::string> missing;
  for (std::size_t at = text.find(kNamed); at != std::string::npos; at = text.find(kNamed, at)) {
    at += kNamed.size();
    const std::string name = text.substr(at, text.find_first_of(" `", at) - at);
    if (std::ranges::find(commands, name) == commands.end()) missing.insert("intray " + name);
  }
  std::string out;
  for (const std::string& name : missing) out += (out.empty() ? "" : ", ") + name;
  return out;
}

void print_one(Console& console, const Explained& e, const std::vector<std::string>& commands) {
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
  if (const std::string missing = not_here(e.what_to_do, commands); !missing.empty())
    console.out << wrapped("Not in this version: " + missing + ".", kIndent, console.columns);
}

void print_all(Console& console) {
  Table table(console, {{"WORD"}, {"GROUP"}, {"EFFECT"}, {"WHAT HAPPENED", Column::Fit::kCutEnd}});
  for (const Explained& e : all_words()) {
    if (console.json)
      print_one(console, e, {});
    else
      table.add({{e.word}, {e.group}, {e.effect}, {e.what_happened}});
  }
  table.finish();
}

}  // namespace

int run_explain(Console& console, const std::string& word, const std::vector<std::string>& commands) {
  if (word.empty()) {
    print_all(console);
    return kDone;
  }
  const std::vector<Explained> found = explain_word(word);
  for (const Explained& e : found) print_one(console, e, commands);
  if (!found.empty()) return kDone;
  const std::vector<Explained> all = all_words();
  std::vector<std::string_view> known;
  for (const Explained& e : all)
    if (!e.group.starts_with("exit code")) known.push_back(e.word);
  const auto guess = config::nearest(word, known);
  complain(console,
           base::escape(word) + ": not a code of intray; " +
               (guess ? "did you mean " + std::string(*guess) + "?" : std::string("'intray explain' lists them all")));
  return kNo;
}

}  // namespace intray::cli
