#include "inbox/handoff.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <system_error>
#include <thread>

#include "limits.h"

namespace intray::inbox {
namespace {

using base::ErrorCode;

constexpr std::uint32_t kJobFileMode = 0644;  // the executor is in no requester's group; the directory keeps others out

base::Error unknown(base::Error cause, const std::string& name) {
  cause.code = ErrorCode::kOutcomeUnknown;
  return base::with_context(std::move(cause), name + " is in new/, but it may not survive a power failure");
}

struct OpenParcel {
  std::string name;        // in new/
  std::string tmp_name;    // in tmp/
  std::string_view bytes;  // the caller's
  sys::Fd file;
};

// Step 1 without its sync. On error tmp/ holds nothing of ours. A name that is taken belongs to another attempt,
// running or cut off: it is left alone, and ours gets a name of its own. Which of the two is handed over, step 2
// decides.
base::Result<OpenParcel> write_file(const DropBox& box, const Parcel& parcel) {
  OpenParcel out{.name = parcel.name.str(), .tmp_name = {}, .bytes = parcel.bytes, .file = {}};
  out.tmp_name = out.name;
  for (int attempt = 2;; ++attempt) {
    auto file = box.tmp.create(out.tmp_name, kJobFileMode);
    if (file) {
      out.file = std::move(*file);
      break;
    }
    if (file.error().code != ErrorCode::kExists) return std::unexpected(std::move(file).error());
    if (attempt > limits::kTmpAttemptsMax)
      return base::fail(ErrorCode::kBusy, "tmp/" + out.name + ": too many attempts at once", file.error().sys_errno);
    out.tmp_name = out.name + "." + std::to_string(attempt);
  }
  if (auto written = sys::write_all(out.file.get(), parcel.bytes); !written) {
    static_cast<void>(box.tmp.unlink(out.tmp_name));
    return std::unexpected(base::with_context(std::move(written).error(), "tmp/" + out.tmp_name));
  }
  return out;
}

// The rest of step 1. On error tmp/ holds nothing of ours.
base::Result<void> sync_file(const DropBox& box, const OpenParcel& parcel) {
  auto synced = sys::sync_file(parcel.file.get());
  if (synced) return {};
  static_cast<void>(box.tmp.unlink(parcel.tmp_name));
  return std::unexpected(base::with_context(std::move(synced).error(), "tmp/" + parcel.tmp_name));
}

// What has the name in new/ that step 2 found taken.
enum class Holder { kThisJob, kAnother, kGone };

Holder holder_of(const DropBox& box, const OpenParcel& parcel) {
  const auto file = box.fresh.open_read(parcel.name);
  if (!file) return file.error().code == ErrorCode::kNotFound ? Holder::kGone : Holder::kAnother;
  const auto bytes = sys::read_up_to(file->get(), parcel.bytes.size() + 1);
  return bytes && *bytes == parcel.bytes ? Holder::kThisJob : Holder::kAnother;
}

// Step 2. kExists: new/ has it from before; kBusy: something else has its name. Ours is gone from tmp/ after both.
base::Result<void> rename_file(const DropBox& box, const OpenParcel& parcel) {
  for (int attempt = 1;; ++attempt) {
    auto moved = box.tmp.move(parcel.tmp_name, box.fresh, parcel.name);
    if (moved) return {};
    const ErrorCode code = moved.error().code;
    if (code == ErrorCode::kExists) {
      const Holder holder = holder_of(box, parcel);
      // Taken meanwhile, and it may have been anything: this job is handed over for itself.
      if (holder == Holder::kGone && attempt < limits::kHandOverRenamesMax) continue;
      static_cast<void>(box.tmp.unlink(parcel.tmp_name));
      if (holder == Holder::kThisJob) return moved;
      return base::fail(ErrorCode::kBusy, "new/" + parcel.name + ": the name is taken by a file that is not this job");
    }
    if (code != ErrorCode::kNotFound) {
      // A failing disk may have done it and said otherwise. Only what is still in tmp/ is certainly not accepted.
      const auto still_there = box.tmp.stat(parcel.tmp_name);
      if (!still_there) return std::unexpected(unknown(std::move(moved).error(), parcel.name));
    }
    static_cast<void>(box.tmp.unlink(parcel.tmp_name));
    return moved;
  }
}

// Renamed now or before: what step 3 must make durable. "Handed over already" is as durable as "handed over".
bool is_in_new(const base::Result<void>& renamed) { return renamed || renamed.error().code == ErrorCode::kExists; }

// False where the system has no more threads to give, or no memory for one.
template <class Work>
bool add_thread(std::vector<std::thread>& threads, const Work& work) {
  try {
    threads.emplace_back(work);
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Step 1's sync of all of them, up to `threads` at once: each waits for its own flush, several share the disk's queue.
std::vector<base::Result<void>> sync_files(const DropBox& box, std::span<const OpenParcel> parcels, int threads) {
  std::vector<base::Result<void>> results(parcels.size());
  std::atomic<std::size_t> next = 0;
  // A thread must not end the program of a requester that has no memory left; its parcel is one more that failed.
  const auto work = [&] {
    for (std::size_t i = next++; i < parcels.size(); i = next++) {
      try {
        results[i] = sync_file(box, parcels[i]);
      } catch (const std::bad_alloc&) {
        results[i] = std::unexpected(base::Error{.code = ErrorCode::kBusy, .sys_errno = 0, .what = "no memory"});
      }
    }
  };
  std::vector<std::thread> helpers;
  const auto wanted = std::min<std::size_t>(
      static_cast<std::size_t>(std::clamp(threads, 1, limits::kHandOverThreadsMax)), parcels.size());
  helpers.reserve(wanted);
  // No more threads to be had: those there are, or this one alone, do the work.
  while (helpers.size() + 1 < wanted && add_thread(helpers, work)) {
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  return results;
}

}  // namespace

base::Result<void> hand_over(const DropBox& box, const Parcel& parcel) {
  OpenParcel open = INTRAY_TRY(write_file(box, parcel));
  if (auto synced = sync_file(box, open); !synced) return synced;
  open.file.reset();
  auto renamed = rename_file(box, open);
  if (!is_in_new(renamed)) return renamed;
  if (auto synced = box.fresh.sync(); !synced) return std::unexpected(unknown(std::move(synced).error(), open.name));
  return renamed;
}

std::vector<base::Result<void>> hand_over_batch(const DropBox& box, std::span<const Parcel> parcels, int threads) {
  std::vector<base::Result<void>> results(parcels.size());
  for (std::size_t start = 0; start < parcels.size(); start += limits::kHandOverOpenFilesMax) {
    const std::size_t end = std::min(parcels.size(), start + limits::kHandOverOpenFilesMax);
    std::vector<OpenParcel> open;
    std::vector<std::size_t> index_of;  // of each open one in `parcels`
    for (std::size_t i = start; i < end; ++i) {
      if (auto written = write_file(box, parcels[i])) {
        open.push_back(std::move(*written));
        index_of.push_back(i);
      } else {
        results[i] = std::unexpected(std::move(written).error());
      }
    }
    std::vector<base::Result<void>> synced = sync_files(box, open, threads);
    for (std::size_t k = 0; k < open.size(); ++k) {
      open[k].file.reset();
      results[index_of[k]] = synced[k] ? rename_file(box, open[k]) : std::move(synced[k]);
    }
  }
  if (std::none_of(results.begin(), results.end(), is_in_new)) return results;
  const auto synced = box.fresh.sync();
  if (synced) return results;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (is_in_new(results[i])) results[i] = std::unexpected(unknown(synced.error(), parcels[i].name.str()));
  return results;
}

}  // namespace intray::inbox
