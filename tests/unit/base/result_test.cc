#include "base/result.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <memory>
#include <set>
#include <string>

namespace intray::base {
namespace {

ErrorCode code_of(int sys_errno) { return fail_errno(sys_errno, "x").error().code; }

TEST_CASE("result: an errno becomes the code that says what to do next") {
  CHECK(code_of(ENOENT) == ErrorCode::kNotFound);
  CHECK(code_of(EEXIST) == ErrorCode::kExists);
  for (const int e : {EACCES, EPERM, EROFS}) CHECK(code_of(e) == ErrorCode::kDenied);
  for (const int e : {ENOSPC, EDQUOT}) CHECK(code_of(e) == ErrorCode::kNoSpace);
  for (const int e : {EAGAIN, EINTR}) CHECK(code_of(e) == ErrorCode::kBusy);
  for (const int e : {ENOSYS, EOPNOTSUPP}) CHECK(code_of(e) == ErrorCode::kUnsupported);
  for (const int e : {EINVAL, ENAMETOOLONG}) CHECK(code_of(e) == ErrorCode::kInvalid);
  for (const int e : {EIO, EXDEV, ENOTDIR, EMFILE}) CHECK(code_of(e) == ErrorCode::kIo);
}

TEST_CASE("result: an error names the thing, the system's words and the errno") {
  const Error error = fail_errno(ENOENT, "save/new").error();
  CHECK(error.what == "save/new: No such file or directory");
  CHECK(error.sys_errno == ENOENT);
  const Error larger = with_context(error, "start");
  CHECK(larger.what == "start: save/new: No such file or directory");
  CHECK(larger.code == ErrorCode::kNotFound);
  CHECK(larger.sys_errno == ENOENT);
  CHECK(fail(ErrorCode::kBusy, "held").error().sys_errno == 0);
}

TEST_CASE("result: every code has a word of its own") {
  std::set<std::string_view> words;
  constexpr int kLast = static_cast<int>(ErrorCode::kOutcomeUnknown);
  for (int i = 0; i <= kLast; ++i) words.insert(to_word(static_cast<ErrorCode>(i)));
  CHECK(words.size() == static_cast<std::size_t>(kLast) + 1);
  CHECK(to_word(ErrorCode::kOutcomeUnknown) == "outcome unknown");
}

Result<std::unique_ptr<int>> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::kInvalid, "odd");
  return std::make_unique<int>(n / 2);
}
Result<int> quarter(int n) {
  const auto once = INTRAY_TRY(half(n));
  const auto twice = INTRAY_TRY(half(*once));
  return *twice;
}

TEST_CASE("result: TRY hands over the value, move-only ones too, or returns the first error") {
  CHECK(quarter(8) == 2);
  CHECK(quarter(3).error().what == "odd");
  CHECK(quarter(6).error().code == ErrorCode::kInvalid);
}

}  // namespace
}  // namespace intray::base
