// Purpose:    what is behind the handles of intray/intray.h, and the one way in which its functions fail.
// Process:    the requester, inside libintray.so.
// Trust:      the caller's memory is the caller's; values in it are checked.
// Thread use: as intray.h says.
#pragma once

#include <intray/intray.h>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/job.h"
#include "client/waiter.h"
#include "inbox/layout.h"
#include "model/receipt.h"

struct intray_error {
  int code = INTRAY_INTERNAL;
  int sys_errno = 0;
  std::string reason;  // "": none
  std::string message;
};

struct intray_inbox {
  std::string root;
  intray::model::JobKind kind;
  intray::inbox::DropBox box;
};

namespace intray::client::abi {

// Each gives the error to `out`, where there is one to give to, and returns its code. Where there is no memory for it,
// an error without words is given, which is there from the start; freeing that does nothing.
int fail(intray_error** out, int code, std::string_view message) noexcept;
int fail(intray_error** out, const base::Error& error) noexcept;
int fail(intray_error** out, const model::Rejection& rejection) noexcept;
int fail_without_words(intray_error** out, int code) noexcept;

int code_of(const base::Error& error);

// Runs the body of a function that C calls: nothing is thrown out of it. `lost`: what is true of the call when its body
// is cut off.
template <class Body>
int guarded(intray_error** error, Body&& body, int lost = INTRAY_NO_MEMORY) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return fail_without_words(error, lost);
  } catch (...) {
    return fail_without_words(error, lost == INTRAY_NO_MEMORY ? static_cast<int>(INTRAY_INTERNAL) : lost);
  }
}

// A caller's struct as this library knows it. nullopt: it is shorter than any ever was, or holds something beyond what
// is known here. A struct that grows keeps its first size here, and what an older caller doesn't know of is 0.
template <class Struct>
std::optional<Struct> sized_copy(const Struct* given) {
  constexpr std::size_t kFirstSize = sizeof(Struct);
  constexpr std::size_t kSizeMax = 4096;  // beyond, the caller forgot to set it
  if (given == nullptr || given->struct_size < kFirstSize || given->struct_size > kSizeMax) return std::nullopt;
  const std::string_view all(reinterpret_cast<const char*>(given), given->struct_size);  // NOLINT(*-reinterpret-cast)
  if (all.substr(sizeof(Struct)).find_first_not_of('\0') != std::string_view::npos) return std::nullopt;
  return *given;
}

std::optional<model::JobKind> kind_of(int kind);

// NULL rules are the defaults. nullopt: they break a rule of their own, told to `error`.
struct Rules {
  model::JobRules job;
  base::WallTime now;
};
std::optional<Rules> rules_of(const intray_rules* given, model::JobKind kind, intray_error** error);

}  // namespace intray::client::abi

struct intray_job {
  intray::client::Draft draft;
  std::string id;
  std::string sha256;
  std::string file_name;
  std::vector<std::pair<std::string, std::string>> members;  // those that are strings
};

struct intray_receipt {
  intray::model::Receipt receipt;
  std::string job_id;
  std::string job_sha256;
  std::string result;
  std::string reason;
  std::string json;
};

struct intray_waiter {
  std::string root;
  intray::model::JobKind kind;
  intray::client::Waiter waiter;
  bool open = false;
};
