// Purpose:    what every fuzz target shares: the entry point that libFuzzer (or replay.cc) calls, and a check that ends
//             the process where a property does not hold.
// Trust:      input is whatever the fuzzer makes up; a target must hold for all of it.
// Thread use: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// Once, before the first input.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
// Returns 0 always: every input counts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace intray::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};  // NOLINT(*-reinterpret-cast): octets as chars
}

// Takes the first line off, without its newline: for targets that want two texts.
inline std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

// No character that could tear a line or drive a terminal.
inline bool is_one_plain_line(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
  return true;
}

[[noreturn]] inline void broken(const char* property, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, property);
  std::abort();
}

}  // namespace intray::fuzz

#define CHECK(property) ((property) ? void() : ::intray::fuzz::broken(#property, __FILE__, __LINE__))
