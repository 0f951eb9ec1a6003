#include "cli/console.h"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <iostream>

#include "base/escape.h"
#include "sys/process.h"
#include "sys/terminal.h"

namespace intray::cli {
namespace {

constexpr int kOut = 1;
constexpr int kErr = 2;
constexpr int kColumnsWhenSilent = 80;  // a terminal that does not say its width

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::kRed: return "\x1b[1;31m";
    case Colour::kYellow: return "\x1b[33m";
    case Colour::kGreen: return "\x1b[32m";
    case Colour::kBlue: return "\x1b[36m";
    case Colour::kDim: return "\x1b[2m";
    case Colour::kBold: return "\x1b[1m";
    case Colour::kNone: break;
  }
  return {};
}

}  // namespace

std::string Console::paint(Colour wanted, std::string_view text) const {
  if (!colour || wanted == Colour::kNone || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code_of(wanted), text);
}

std::string Console::time(base::WallTime t) const {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(t);
  if (utc) return base::format_rfc3339(seconds).substr(0, 19) + "Z";
  const std::time_t count = seconds.time_since_epoch().count();
  std::tm parts{};
  std::array<char, 32> text{};
  if (localtime_r(&count, &parts) == nullptr) return base::format_rfc3339(t);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts)};
}

Console standard_console(const base::Clock& clock) {
  Console out{.out = std::cout, .err = std::cerr, .clock = clock};
  out.out_is_terminal = sys::is_terminal(kOut);
  out.err_is_terminal = sys::is_terminal(kErr);
  const auto no_colour = sys::environment("NO_COLOR");
  const auto kind = sys::environment("TERM");
  out.colour = out.out_is_terminal && !(no_colour && !no_colour->empty()) && kind.value_or("dumb") != "dumb";
  if (out.out_is_terminal) out.columns = sys::terminal_columns(kOut).value_or(kColumnsWhenSilent);
  return out;
}

void complain(Console& console, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    console.err << "intray: " << text.substr(0, end) << '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  console.err.flush();
}

void complain(Console& console, const base::Error& error) {
  std::string_view rest = error.what;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    // An error may quote raw bytes of a requester, or text that is escaped already: its backslashes stay single.
    std::string line = base::escape(rest.substr(0, end));
    for (std::size_t at = 0; (at = line.find("\\\\", at)) != std::string::npos; ++at) line.erase(at, 1);
    complain(console, line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace intray::cli
