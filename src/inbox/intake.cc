#include "inbox/intake.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/log.h"
#include "inbox/lanes.h"
#include "inbox/taken_file.h"
#include "limits.h"
#include "sys/process.h"

namespace intray::inbox {
namespace {

using base::ErrorCode;

constexpr base::Micros kSelfTestAgeMax{60'000'000};  // a self-test takes less than a second

std::string_view word_of(sys::FileType type) {
  switch (type) {
    case sys::FileType::kRegular: return "regular file";
    case sys::FileType::kDirectory: return "directory";
    case sys::FileType::kSymlink: return "symlink";
    case sys::FileType::kFifo: return "fifo";
    case sys::FileType::kSocket: return "socket";
    case sys::FileType::kDevice: return "device";
  }
  std::abort();
}

// Every further name would end the same way. Any other failure may be this one name's, which must not hide the rest.
bool concerns_all(const base::Error& error) {
  return error.code == ErrorCode::kNoSpace || error.code == ErrorCode::kBusy || error.sys_errno == EROFS;
}

// A start that died in its self-test left it. A young one may be another process's that is starting now.
void remove_old_self_test(const sys::Dir& dir, const std::string& name, base::WallTime now) {
  const auto info = dir.stat(name);
  if (info && now - info->changed_at > kSelfTestAgeMax) static_cast<void>(dir.unlink(name));
}

base::Result<void> check_not_removed(const sys::Dir& dir) {
  const auto info = dir.stat_self();
  if (info && info->links == 0) return base::fail(ErrorCode::kDenied, dir.path() + ": this directory was removed");
  return {};
}

}  // namespace

struct Intake::Impl {
  struct Unread {
    LeaseName name;
    std::string dropped_name;
    std::int64_t counted_bytes = 0;
  };

  const Inbox* inbox;
  base::Slot slot;
  base::TakeNumber next_take;
  std::set<std::uint32_t> requester_uids;
  std::uint32_t own_uid = sys::effective_uid();

  Lanes lanes;
  int vanished_before = 0;  // between two calls of take(), when names were noted
  bool scan_due = false;
  std::optional<sys::DirStream> scan;
  // Runs ahead of a scan that takes more than one call, and leaves everything where it is: it looks for owners whose
  // names the scan would come to late, because another's lie before them.
  std::optional<sys::DirStream> scout;
  bool scouted = false;        // once through, for the present scan
  std::vector<Unread> unread;  // in the lease, not opened for want of descriptors or memory
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_strays;  // device and inode
  bool said_full = false;

  // Of the present call of take().
  TakeOutcome outcome;
  std::optional<base::Error> failure;  // the first one
  bool stop = false;                   // it concerns every name
  const MayTake* may_take = nullptr;

  Impl(const Inbox& inbox_given, base::Slot slot_given, base::TakeNumber takes, std::set<std::uint32_t> uids)
      : inbox(&inbox_given),
        slot(slot_given),
        next_take(takes),
        requester_uids(std::move(uids)),
        lanes(requester_uids) {}

  const sys::Dir& lease() const { return inbox->slots[static_cast<std::size_t>(slot.value)]; }

  void fail_with(base::Error error) {
    stop = stop || concerns_all(error);
    if (!failure) failure = std::move(error);
  }

  // Remembers what can't be removed. False: known already, or there are too many to know.
  bool is_new_stray(const sys::FileInfo& info) {
    if (known_strays.contains({info.device, info.inode})) return false;
    if (known_strays.size() >= limits::kKnownStraysMax) {
      if (!std::exchange(said_full, true))
        base::log(base::LogLevel::kWarn, "inbox.strays_full", {{"directory", inbox->fresh.path()}});
      return false;
    }
    known_strays.insert({info.device, info.inode});
    return true;
  }

  // Step 0 found no regular file.
  void set_aside(const std::string& name, const sys::FileInfo& info) {
    Stray stray{
        .dropped_name = name, .owner_uid = info.uid, .detail = std::string(word_of(info.type)), .removed = false};
    if (info.type != sys::FileType::kDirectory) {
      const auto removed = inbox->fresh.unlink(name);
      if (!removed && removed.error().code == ErrorCode::kNotFound) {
        ++outcome.vanished;
        return;
      }
      stray.removed = removed.has_value();
      if (!removed) stray.detail += ", can't be removed";
    }
    if (stray.removed || is_new_stray(info)) outcome.strays.push_back(std::move(stray));
  }

  LeaseName lease_name_of(const std::string& name) {
    LeaseName out{.take = next_take, .deaths = 0, .job = JobName::parse(name), .bad_digest = {}};
    ++next_take.value;
    if (!out.job) {
      out.bad_digest = digest_of_name(name);
      // Before the rename hides it: until the audit has the name, this line is its only record.
      base::log(base::LogLevel::kWarn, "inbox.bad_name", {{"name", name}, {"taken_as", out.str()}});
    }
    return out;
  }

  // Steps 2 and 3 of what lies in the lease under `taken`.
  void read(Unread taken, base::WallTime now) {
    auto file = read_taken(lease(), taken.name, taken.dropped_name, requester_uids, now);
    if (file) {
      file->counted_bytes = taken.counted_bytes;
      outcome.files.push_back(std::move(*file));
    } else if (file.error().code == ErrorCode::kNotFound) {
      // Out of our own directory: an admin's doing.
      base::log(base::LogLevel::kWarn, "inbox.left_lease", {{"name", taken.name.str()}});
      ++outcome.vanished;
    } else {
      fail_with(std::move(file).error());
      unread.push_back(std::move(taken));
    }
  }

  // Steps 0 to 3. False: it failed, `failure` says why, and the name is still in new/.
  bool examine(const std::string& name, base::WallTime now) {
    const auto info = inbox->fresh.stat(name);
    if (!info && info.error().code == ErrorCode::kNotFound) {
      ++outcome.vanished;
      return true;
    }
    if (!info) {
      fail_with(info.error());
      return false;
    }
    if (info->type != sys::FileType::kRegular) {
      set_aside(name, *info);
      return true;
    }
    if (is_self_test_name(name) && info->uid == own_uid) return true;
    const std::int64_t bytes = std::min(info->size_bytes, static_cast<std::int64_t>(limits::kJobFileBytesMax));
    if (*may_take && !(*may_take)(info->uid, bytes)) {
      ++outcome.held_back;
      return true;
    }
    LeaseName as = lease_name_of(name);
    if (const auto moved = inbox->fresh.move(name, lease(), as.str()); !moved) {
      if (moved.error().code == ErrorCode::kNotFound) {
        ++outcome.vanished;
        return true;
      }
      // A failing disk may have done it and said otherwise; left at that, the file would lie in the lease unseen.
      if (!lease().stat(as.str())) {
        fail_with(moved.error());
        return false;
      }
    }
    read({std::move(as), name, bytes}, now);
    return true;
  }

  // Puts a name into its owner's lane. What can't be looked at is nobody's: examine() says why. False: no room there.
  bool sort_in(std::string name, Lanes::From from, int& vanished) {
    const auto info = inbox->fresh.stat(name);
    if (!info && info.error().code == ErrorCode::kNotFound) {
      ++vanished;
      return true;
    }
    return lanes.add(info ? info->uid : own_uid, std::move(name), from);
  }

  bool scanning() const { return scan || scan_due; }

  // The scan moves on by up to `max` names. How many it looked at.
  std::size_t scan_on(std::size_t max) {
    std::vector<std::string> names = scan_names(max);
    for (std::string& name : names) sort_in(std::move(name), Lanes::From::kScan, outcome.vanished);
    return names.size();
  }

  // Its failures are left to the scan, which will meet them too.
  void scout_on() {
    if (!scan || !lanes.several_requesters()) return;
    if (!scout && (!scouted || lanes.scout_wanted())) {
      if (auto stream = inbox->fresh.stream()) {
        scout = std::move(*stream);
        lanes.scout_begins();
      }
    }
    for (std::size_t looked_at = 0; scout && looked_at < limits::kScoutNamesPerTake;) {
      auto names = scout->next(limits::kScoutNamesPerTake - looked_at);
      if (!names || names->empty()) {
        scout.reset();
        scouted = true;
        return;
      }
      looked_at += names->size();
      int vanished = 0;
      for (std::string& name : *names) sort_in(std::move(name), Lanes::From::kScout, vanished);
    }
  }

  std::vector<std::string> scan_names(std::size_t max) {
    if (!scan && scan_due) {
      auto stream = inbox->fresh.stream();
      if (!stream) {
        fail_with(std::move(stream).error());
        stop = true;
        return {};
      }
      scan_due = false;
      scan = std::move(*stream);
      scout.reset();
      scouted = false;
    }
    if (!scan) return {};
    auto names = scan->next(max);
    if (!names) {
      fail_with(std::move(names).error());
      stop = true;
      scan.reset();
      scan_due = true;
      return {};
    }
    if (names->empty()) {
      scan.reset();
      scout.reset();
    }
    return std::move(*names);
  }

  void take_some(std::size_t max, base::WallTime now) {
    for (Unread& taken : std::exchange(unread, {})) read(std::move(taken), now);
    scout_on();
    std::size_t left = max * limits::kTakeExaminedPerFile;
    while (!stop && left > 0 && outcome.files.size() < max) {
      const std::size_t want = std::min(left, max - outcome.files.size());
      if (scanning() && lanes.scanned() < want) left -= std::min(left, std::max<std::size_t>(1, scan_on(want)));
      if (stop) return;
      std::vector<Lanes::Name> names = lanes.next(std::min(left, want));
      if (names.empty() && !scanning()) return;
      left -= names.size();
      for (std::size_t i = 0; i < names.size(); ++i) {
        const bool done = examine(names[i].name, now);
        if (!stop) continue;  // a failure of this name alone is left to the next scan
        lanes.put_back(std::span(names).subspan(done ? i + 1 : i));  // these wait for better times
        return;
      }
    }
  }
};

Intake::Intake(const Inbox& inbox, base::Slot slot, base::TakeNumber takes, std::set<std::uint32_t> requester_uids)
    : impl_(std::make_shared<Impl>(inbox, slot, takes, std::move(requester_uids))) {
  if (slot.value < 0 || static_cast<std::size_t>(slot.value) >= inbox.slots.size()) std::abort();
}

void Intake::note(std::vector<std::string> names) {
  for (std::string& name : names)
    if (!impl_->sort_in(std::move(name), Lanes::From::kEvent, impl_->vanished_before)) impl_->scan_due = true;
}

void Intake::rescan() { impl_->scan_due = true; }

bool Intake::pending() const { return !impl_->lanes.empty() || impl_->scanning() || !impl_->unread.empty(); }

base::Result<TakeOutcome> Intake::take(std::size_t max, base::WallTime now, const MayTake& may_take) {
  impl_->outcome = {};
  impl_->outcome.vanished = std::exchange(impl_->vanished_before, 0);
  impl_->may_take = &may_take;
  impl_->failure.reset();
  impl_->stop = false;
  impl_->take_some(max, now);
  const TakeOutcome& got = impl_->outcome;
  // What was taken comes first; the same failure will be back with the next call, if it is one that lasts.
  if (got.files.empty() && got.strays.empty()) {
    if (impl_->failure) return std::unexpected(*std::move(impl_->failure));
    // In a removed directory every name merely seems to have vanished.
    INTRAY_TRY(check_not_removed(impl_->inbox->fresh));
    INTRAY_TRY(check_not_removed(impl_->lease()));
  }
  return std::move(impl_->outcome);
}

base::Result<std::vector<TakenFile>> Intake::leftovers(base::WallTime now) {
  std::vector<LeaseName> names;
  for (const std::string& raw : INTRAY_TRY(impl_->lease().list())) {
    if (auto name = LeaseName::parse(raw))
      names.push_back(std::move(*name));
    else if (is_self_test_name(raw))
      remove_old_self_test(impl_->lease(), raw, now);
    else
      base::log(base::LogLevel::kWarn, "inbox.stranger_in_lease",
                {{"directory", impl_->lease().path()}, {"name", raw}});
  }
  std::sort(names.begin(), names.end(), [](const LeaseName& a, const LeaseName& b) { return a.take < b.take; });
  std::vector<TakenFile> files;
  for (const LeaseName& name : names) {
    auto file = read_taken(impl_->lease(), name, name.job ? name.job->str() : name.str(), impl_->requester_uids, now);
    if (file)
      files.push_back(std::move(*file));
    else if (file.error().code != ErrorCode::kNotFound)
      return std::unexpected(std::move(file).error());
  }
  return files;
}

base::Result<LeaseName> Intake::count_death(const LeaseName& name) {
  LeaseName counted = name;
  counted.deaths = std::min(counted.deaths + 1, limits::kDeathsMax);
  if (counted.deaths != name.deaths) INTRAY_TRY(impl_->lease().move(name.str(), impl_->lease(), counted.str()));
  INTRAY_TRY(impl_->lease().sync());
  return counted;
}

}  // namespace intray::inbox
