#include "inbox/receipt_tail.h"

#include <algorithm>

#include "inbox/receipt_log.h"
#include "limits.h"

namespace intray::inbox {

base::Result<void> ReceiptTail::read(const std::function<void(const model::Receipt&)>& each) {
  const std::string first = day_file(since_);
  for (const std::string& name : INTRAY_TRY(dir_.list())) {  // sorted
    if (!is_day_file(name) || name < first) continue;
    auto day = days_.find(name);
    if (day == days_.end()) {
      auto file = dir_.open_read(name);
      if (!file && file.error().code == base::ErrorCode::kNotFound) continue;  // pruned meanwhile
      if (!file) return std::unexpected(std::move(file).error());
      day = days_.try_emplace(name).first;
      day->second.file = std::move(*file);
    }
    if (day->second.file.valid()) INTRAY_TRY(drain(day->second, each));
    close_old_days();
  }
  return {};
}

void ReceiptTail::close_old_days() {
  int open = 0;
  for (auto day = days_.rbegin(); day != days_.rend(); ++day) {
    if (day->second.file.valid() && ++open > limits::kReceiptDaysOpenMax) day->second = Day{};
  }
}

base::Result<void> ReceiptTail::drain(Day& day, const std::function<void(const model::Receipt&)>& each) {
  while (true) {
    const std::string bytes = INTRAY_TRY(sys::read_up_to(day.file.get(), limits::kReceiptReadBytes));
    if (bytes.empty()) return {};
    day.rest += bytes;
    std::size_t from = 0;
    for (std::size_t end = 0; (end = day.rest.find('\n', from)) != std::string::npos; from = end + 1) {
      const auto receipt = model::parse_receipt(std::string_view(day.rest).substr(from, end - from));
      if (receipt && !day.too_long)
        each(*receipt);
      else
        ++skipped_;
      day.too_long = false;
    }
    day.rest.erase(0, from);
    if (day.rest.size() > limits::kReceiptLineBytesMax) {
      day.too_long = true;
      day.rest.clear();
    }
  }
}

}  // namespace intray::inbox
