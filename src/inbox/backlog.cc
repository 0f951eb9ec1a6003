#include "inbox/backlog.h"

namespace intray::inbox {

base::Result<std::optional<std::int64_t>> BacklogCount::step(std::size_t max, std::int64_t enough) {
  if (!stream_) {
    stream_ = INTRAY_TRY(inbox_->fresh.stream());
    counted_ = 0;
  }
  const auto names = stream_->next(max);
  if (!names) {
    stream_.reset();
    return std::unexpected(names.error());
  }
  counted_ += static_cast<std::int64_t>(names->size());
  if (!names->empty() && counted_ < enough) return std::nullopt;
  stream_.reset();
  return counted_;
}

}  // namespace intray::inbox
