// Purpose:    a system call filter, from a table of what is allowed to what the kernel enforces.
// Process:    executors and intray-connector, once, as the last step of lock-down.
// Trust:      the table is the program's own (seccomp/*.policy); nothing of it comes from input.
// Thread use: one thread; the filter holds for every thread of the process.
//
// Of the C library and libseccomp alone, because intray-connector is too. Whatever the table does not allow kills the
// process (SIGSYS), and so does every call of a foreign ABI. All comparisons are of 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace intray::sys {

enum class FilterCompare : std::uint8_t {
  kEqual,   // argument == operand
  kWithin,  // no bit of the argument outside the operand
  kAbove,   // a descriptor > operand by the 32 bits that the kernel takes; or negative, which fails in the kernel
};

// What an argument is compared with: a number, or the numbers that a name stands for in this process.
struct FilterCondition {
  std::uint8_t argument = 0;  // 0 to 5
  FilterCompare compare = FilterCompare::kEqual;
  std::uint64_t value = 0;
  const char* name = nullptr;  // not null: FilterValue of that name, `value` is unused
};

inline constexpr std::size_t kFilterConditionsMax = 6;

struct FilterRule {
  const char* call = nullptr;  // nullptr: `number`
  int number = -1;             // for calls that libseccomp has no name for
  int error = 0;               // 0: allowed; else the call fails with this errno and is not made
  std::uint8_t conditions = 0;
  FilterCondition condition[kFilterConditionsMax] = {};  // NOLINT(*-avoid-c-arrays): aggregate of a generated table
};

// One value of a name; a name with several values stands several times, and a rule that uses it is made once for each.
struct FilterValue {
  const char* name = nullptr;
  std::uint64_t value = 0;
};

// What went wrong, in static text.
struct FilterError {
  const char* step = nullptr;  // nullptr: nothing
  const char* call = "";       // the rule's
  int error = 0;               // errno, positive
};

struct FilterTables {
  const FilterRule* rules = nullptr;
  std::size_t rule_count = 0;
  const FilterRule* more_rules = nullptr;  // of sanitizer builds
  std::size_t more_rule_count = 0;
  const FilterValue* values = nullptr;
  std::size_t value_count = 0;
};

// Loads the filter into the kernel, for all threads. Requires no_new_privs. On failure nothing is loaded. A name
// without a value, a rule that libseccomp refuses, or an empty table is an error: never a weaker filter.
FilterError load_filter(const FilterTables& tables);
// The same filter as pseudo code (libseccomp's text for people), written to `fd`.
FilterError export_filter(const FilterTables& tables, int fd);
// The same as the kernel gets it: an array of struct sock_filter.
FilterError export_filter_program(const FilterTables& tables, int fd);

// The name of a call of this architecture, written to `buffer`; "" where it has none.
void call_name(int number, char* buffer, std::size_t size);

}  // namespace intray::sys
