#include "inbox/receipt_log.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "limits.h"

namespace intray::inbox {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::size_t kDayChars = 10;  // YYYY-MM-DD

std::string day_of(base::WallTime time) { return base::format_rfc3339(time).substr(0, kDayChars); }

using EachLine = std::function<void(std::string_view)>;

// Calls `each` for every line of the file that ends in a newline, without it; the rest of a torn line that another one
// was appended to reaches `each` as a part of neither. Lines over the bound become one empty line.
base::Result<void> read_lines(const sys::Dir& dir, const std::string& name, const EachLine& each) {
  const sys::Fd file = INTRAY_TRY(dir.open_read(name));
  std::string line;
  bool too_long = false;
  while (true) {
    const std::string bytes = INTRAY_TRY(sys::read_up_to(file.get(), limits::kReceiptReadBytes));
    if (bytes.empty()) return {};  // an unfinished last line is being written, or is torn: not a line yet
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      const std::string_view part = rest.substr(0, newline);
      too_long = too_long || line.size() + part.size() > limits::kReceiptLineBytesMax;
      if (!too_long) line += part;
      if (newline == std::string_view::npos) break;
      each(too_long ? std::string_view() : std::string_view(line));
      line.clear();
      too_long = false;
      rest.remove_prefix(newline + 1);
    }
  }
}

base::Result<void> read_all(const sys::Dir& receipts, base::WallTime since, const EachLine& each) {
  const std::string first = day_file(since);
  for (const std::string& name : INTRAY_TRY(receipts.list())) {
    if (!is_day_file(name) || name < first) continue;
    auto read = read_lines(receipts, name, each);
    if (!read && read.error().code != base::ErrorCode::kNotFound) return read;  // pruned meanwhile is no failure
  }
  return {};
}

}  // namespace

std::string day_file(base::WallTime time) { return day_of(time) + std::string(kSuffix); }

bool is_day_file(std::string_view name) {
  return name.size() == kDayChars + kSuffix.size() && name.ends_with(kSuffix) &&
         base::parse_rfc3339(std::string(name.substr(0, kDayChars)) + "T00:00:00Z");
}

ReceiptWriter::ReceiptWriter(const sys::Dir& receipts, std::uint32_t file_mode) : dir_(&receipts), mode_(file_mode) {}

base::Result<void> ReceiptWriter::open_day(const std::string& day) {
  if (file_.valid() && day == day_) return {};
  if (dirty()) INTRAY_TRY(sync());  // yesterday's, before it is let go
  const std::string name = day + std::string(kSuffix);
  file_ = INTRAY_TRY(dir_->open_append(name, mode_));
  day_ = day;
  new_name_ = true;  // whoever made the file: this writer can't know that its name is on disk
  tail_.reset();
  auto tail = dir_->open_read(name);
  if (!tail) {
    file_.reset();
    return std::unexpected(std::move(tail).error());
  }
  tail_ = std::move(*tail);
  return {};
}

base::Result<void> ReceiptWriter::append(std::span<const std::string> lines, base::WallTime now) {
  if (lines.empty()) return {};
  INTRAY_TRY(open_day(day_of(now)));
  // Asked each time, not only on opening: several workers append to this file, and any of them may have been cut off.
  const auto last = INTRAY_TRY(sys::last_byte(tail_.get()));
  std::string text;
  std::size_t size = 1;
  for (const std::string& line : lines) size += line.size() + 1;
  text.reserve(size);
  if (last.value_or('\n') != '\n') text += '\n';
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
  }
  dirty_ = true;
  return sys::write_all(file_.get(), text);
}

bool ReceiptWriter::dirty() const { return dirty_; }

base::Result<void> ReceiptWriter::sync() {
  if (!dirty_) return {};
  auto synced = sys::sync_file_data(file_.get());
  if (synced && new_name_) synced = dir_->sync();
  dirty_ = false;
  if (synced) {
    new_name_ = false;
  } else {
    file_.reset();  // a second sync of it could succeed and prove nothing: the kernel reports a lost page once
  }
  return synced;
}

base::Result<int> read_receipts(const sys::Dir& receipts, base::WallTime since,
                                const std::function<void(const model::Receipt&)>& each) {
  int unreadable = 0;
  INTRAY_TRY(read_all(receipts, since, [&](std::string_view line) {
    if (const auto receipt = model::parse_receipt(line))
      each(*receipt);
    else
      ++unreadable;
  }));
  return unreadable;
}

base::Result<std::optional<model::Receipt>> find_receipt(const sys::Dir& receipts, base::WallTime since,
                                                         const base::JobId& job_id, const base::Sha256& job_sha256) {
  const std::string id = job_id.str();
  std::optional<model::Receipt> best;
  INTRAY_TRY(read_all(receipts, since, [&](std::string_view line) {
    if (!line.contains(id)) return;  // spares the parser everybody else's
    auto receipt = model::parse_receipt(line);
    if (!receipt || receipt->job_id != job_id || receipt->job_sha256 != job_sha256) return;
    if (!best || best->audit_seq < receipt->audit_seq) best = std::move(*receipt);
  }));
  return best;
}

}  // namespace intray::inbox
