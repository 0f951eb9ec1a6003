#include "inbox/placement.h"

#include <algorithm>

#include "limits.h"

namespace intray::inbox {
namespace {

base::Result<bool> is_used(const sys::Dir& dir, PlacedName name, int copy) {
  name.copy = copy;
  const auto info = dir.stat(name.str());
  if (info) return true;
  if (info.error().code == base::ErrorCode::kNotFound) return false;
  return std::unexpected(info.error());
}

// The lowest copy number that looks free, by doubling and bisection: somebody who drops the same name a hundred
// thousand times must not make each placement slower than the last. Gaps are no harm: any free number will do.
base::Result<int> find_free_copy(const sys::Dir& dir, const PlacedName& name) {
  int used = name.copy;
  int free = used * 2;
  while (free < limits::kNameCopiesMax && INTRAY_TRY(is_used(dir, name, free))) {
    used = free;
    free *= 2;
  }
  free = std::min(free, limits::kNameCopiesMax);
  while (free - used > 1) {
    const int middle = used + (free - used) / 2;
    (INTRAY_TRY(is_used(dir, name, middle)) ? used : free) = middle;
  }
  return free;
}

}  // namespace

base::Result<PlacedName> place(const sys::Dir& from_dir, const std::string& from, const sys::Dir& to, PlacedName name) {
  constexpr int kTriedOneByOne = 3;  // almost every name is free, or has been used once or twice
  bool searched = false;
  while (true) {
    const auto moved = from_dir.move(from, to, name.str());
    if (moved) return name;
    if (moved.error().code != base::ErrorCode::kExists) return std::unexpected(moved.error());
    if (name.copy >= limits::kNameCopiesMax)
      return base::fail(base::ErrorCode::kExists, to.path() + ": no free name for " + from);
    if (name.copy < kTriedOneByOne || searched) {
      ++name.copy;  // after the search: another worker was faster
    } else {
      name.copy = INTRAY_TRY(find_free_copy(to, name));
      searched = true;
    }
  }
}

base::Result<void> take_back(const Inbox& inbox, const PlacedName& name, base::Slot slot, const LeaseName& as) {
  return inbox.cur.move(name.str(), inbox.slots.at(static_cast<std::size_t>(slot.value)), as.str());
}

}  // namespace intray::inbox
