// Purpose:    one hostile (or honest) call made in a locked-down child, and what came of it.
// Process:    tests/sandbox.
// Trust:      the answer is the kernel's: a wait status, or the errno that the child ends with.
// Thread use: one thread; it forks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "confine/lock_down.h"
#include "scratch.h"

namespace intray::test {

// How an attempt ended.
struct Outcome {
  enum class Kind { kWorked, kError, kSignal, kNoLockDown } kind = Kind::kNoLockDown;
  int number = 0;  // errno or signal
  bool worked() const { return kind == Kind::kWorked; }
  std::string text() const;  // "worked", "EACCES", "SIGSYS"
};

// What it must come to.
enum class Expected {
  kWorks,
  kKilled,      // SIGSYS
  kRefused,     // EACCES, EXDEV or EPERM: by Landlock or by the file's mode
  kNoSuchCall,  // ENOSYS: what libraries probe for
  kFails,       // any of the above, or another errno or signal, but not success
};
bool fits(const Outcome& outcome, Expected expected);
const char* to_word(Expected expected);

struct Case {
  std::string name;
  std::function<long(const World&)> act;  // the call's answer: -1 with errno, or anything else for success
  Expected full = Expected::kKilled;      // with both layers
  Expected filter_only = Expected::kKilled;
  std::optional<Expected> paths_only = {};  // Landlock alone; nullopt: depends on the kernel's build, not looked at
  bool needs_truncate_rule = false;         // Landlock refuses it from ABI 3 on only
};
using Cases = std::vector<Case>;

// The whole table, by what is attacked (cases_*.cc).
void add_file_cases(Cases& cases);
void add_name_cases(Cases& cases);
void add_socket_cases(Cases& cases);
void add_descriptor_cases(Cases& cases);
void add_process_cases(Cases& cases);
void add_memory_cases(Cases& cases);
void add_kernel_cases(Cases& cases);
void add_honest_cases(Cases& cases);  // what a worker does all day
const Cases& all_cases();

// Makes the attempt in a child that went through the real lock-down, with the real plan, as an ordinary user.
Outcome attempt(const Scratch& scratch, const std::function<long(const World&)>& act,
                const confine::WeakenedForTests& weakened = {}, bool allow_reduced = false);

// A system call by its number; pointers and numbers as arguments, nothing checked or translated on the way.
inline long word(const void* pointer) { return reinterpret_cast<long>(pointer); }
inline long word(std::nullptr_t) { return 0; }
template <class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
long word(T number) { return static_cast<long>(number); }
long call_words(long number, const std::vector<long>& words);
template <class... Words>
long call(long number, Words... words) {
  return call_words(number, {word(words)...});
}
inline constexpr long kBit32 = 1L << 32;  // lost where the kernel takes 32 bits of an argument

// Why tests of the filter have nothing to say here, or nullopt.
std::optional<std::string> no_kill_tests();

}  // namespace intray::test
