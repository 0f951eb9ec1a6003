#include "cli/receipt_tail.h"

#include "limits.h"

namespace intray::cli {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDayLength = 10;  // 2026-11-30

bool is_day_file(const std::string& name) {
  return name.size() == kDayLength + kSuffix.size() && name.ends_with(kSuffix);
}

}  // namespace

base::Result<void> ReceiptTail::read(const std::function<void(const model::Receipt&)>& each) {
  // Day by day: a file is left only after the next one exists and this one has been read to its end once more.
  while (true) {
    if (file_.valid()) INTRAY_TRY(drain(each));
    const bool more = INTRAY_TRY(next_day());
    if (!more) return {};
  }
}

base::Result<bool> ReceiptTail::next_day() {
  const std::string first = base::format_rfc3339(since_).substr(0, kDayLength);
  for (const std::string& name : INTRAY_TRY(dir_.list())) {  // sorted
    if (!is_day_file(name) || name.substr(0, kDayLength) < first || name <= day_) continue;
    auto file = dir_.open_read(name);
    if (!file && file.error().code == base::ErrorCode::kNotFound) continue;  // pruned meanwhile
    if (!file) return std::unexpected(std::move(file).error());
    file_ = std::move(*file);
    day_ = name;
    rest_.clear();
    too_long_ = false;
    return true;
  }
  return false;
}

base::Result<void> ReceiptTail::drain(const std::function<void(const model::Receipt&)>& each) {
  while (true) {
    const std::string bytes = INTRAY_TRY(sys::read_up_to(file_.get(), limits::kReceiptReadBytes));
    if (bytes.empty()) return {};
    rest_ += bytes;
    std::size_t from = 0;
    for (std::size_t end = 0; (end = rest_.find('\n', from)) != std::string::npos; from = end + 1) {
      const auto receipt = model::parse_receipt(std::string_view(rest_).substr(from, end - from));
      if (receipt && !too_long_)
        each(*receipt);
      else
        ++skipped_;
      too_long_ = false;
    }
    rest_.erase(0, from);
    if (rest_.size() > limits::kReceiptLineBytesMax) {
      too_long_ = true;
      rest_.clear();
    }
  }
}

}  // namespace intray::cli
