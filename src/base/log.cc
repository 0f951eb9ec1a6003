#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/escape.h"

namespace intray::base {
namespace {

bool use_json = false;
bool under_journald = false;

std::shared_ptr<spdlog::logger>& sink() {
  static std::shared_ptr<spdlog::logger> logger = [] {
    auto made = std::make_shared<spdlog::logger>("intray", std::make_shared<spdlog::sinks::stderr_sink_st>());
    // The zone file must never be opened once the process is confined: UTC, formatted by us.
    made->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::utc));
    made->set_level(spdlog::level::info);
    return made;
  }();
  return logger;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  std::abort();
}

std::string_view word_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarn: return "warning";
    case LogLevel::kError: return "error";
  }
  std::abort();
}

// sd-daemon(3): "<6>" is info, "<4>" warning, "<3>" error, "<7>" debug.
std::string_view journald_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "<7>";
    case LogLevel::kInfo: return "<6>";
    case LogLevel::kWarn: return "<4>";
    case LogLevel::kError: return "<3>";
  }
  std::abort();
}

std::string json_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  nlohmann::json line;
  line["at"] = format_rfc3339(SystemClock{}.wall());
  line["event"] = event;
  line["level"] = word_of(level);
  for (const LogField& f : fields) {
    if (f.is_number)
      line[std::string(f.key)] = std::strtoll(f.value.c_str(), nullptr, 10);
    else
      line[std::string(f.key)] = f.value;
  }
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string text_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  std::string line;
  if (under_journald) {
    line += journald_prefix(level);
  } else {
    line += format_rfc3339(SystemClock{}.wall());
    line += ' ';
    line += word_of(level);
    line += ' ';
  }
  line += event;
  for (const LogField& f : fields) {
    line += ' ';
    line += f.key;
    line += '=';
    const bool quote = f.value.empty() || f.value.find_first_of(" =\"") != std::string::npos;
    if (!quote) {
      line += escape(f.value);
      continue;
    }
    line += '"';
    for (const char c : escape(f.value)) {
      if (c == '"') line += '\\';
      line += c;
    }
    line += '"';
  }
  return line;
}

}  // namespace

void init_log(const LogOptions& options) {
  use_json = options.json;
  under_journald = std::getenv("JOURNAL_STREAM") != nullptr;  // NOLINT(concurrency-mt-unsafe): one thread
  sink()->set_level(to_spdlog(options.level));
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!sink()->should_log(to_spdlog(level))) return;
  sink()->log(to_spdlog(level),
              spdlog::string_view_t(use_json ? json_line(level, event, fields) : text_line(level, event, fields)));
}

}  // namespace intray::base
