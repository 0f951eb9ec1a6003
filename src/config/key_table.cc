#include "config/key_table.h"

#include <fmt/format.h>

#include "base/escape.h"
#include "config/nearest.h"

namespace intray::config {

std::string join_problems(const std::string& file_name, std::vector<Problem> problems) {
  std::ranges::stable_sort(
      problems, {}, [](const Problem& p) { return std::tuple(p.place.line == 0, p.place.line, p.place.column); });
  std::string out;
  for (const Problem& problem : problems) {
    if (!out.empty()) out += '\n';
    out += problem.place.line == 0
               ? fmt::format("{}: {}", file_name, problem.text)
               : fmt::format("{}:{}:{}: {}", file_name, problem.place.line, problem.place.column, problem.text);
  }
  return out;
}

std::string unknown_key(const std::string& key, const std::vector<std::string_view>& known) {
  const auto guess = nearest(key, known);
  return base::escape(key) + ": no such setting; " +
         (guess ? "did you mean " + std::string(*guess) + "?" : std::string("save.toml(5) lists them all"));
}

}  // namespace intray::config
