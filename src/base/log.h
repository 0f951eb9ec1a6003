// Purpose:    one log sink per process: one line per event on stderr, through spdlog (the only door to it).
// Trust:      every field value is escaped here; callers pass raw bytes. Never a credential, note content or a response
//             body: callers pass ids, codes, counts, paths.
// Thread use: one thread.
//
// A line is `<event> key=value key=value …`; with --log-json one JSON object with the same keys, plus "level" and "at".
// Under journald (JOURNAL_STREAM set) the text form carries the sd-daemon level prefix instead of a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace intray::base {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

struct LogField {
  std::string_view key;
  std::string value;
  bool is_number = false;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(v) {}
  LogField(std::string_view k, std::int64_t v) : key(k), value(std::to_string(v)), is_number(true) {}
  LogField(std::string_view k, int v) : LogField(k, static_cast<std::int64_t>(v)) {}
  LogField(std::string_view k, std::size_t v) : LogField(k, static_cast<std::int64_t>(v)) {}
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  bool json = false;
};

// Once, at start. Before it, log() writes text at kInfo.
void init_log(const LogOptions& options);
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

}  // namespace intray::base
