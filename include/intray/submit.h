// Purpose:    hands jobs over, durably and at most once each.
// Process:    a requester's: it needs to write into tmp/ and new/ of the inbox and nothing more.
// Thread use: an Inbox belongs to one thread at a time.
// Durability: kAccepted and kAlready mean that the job survives a power failure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "error.h"
#include "job.h"

namespace intray {

enum class HandOff {
  kAccepted,     // it will end, and its outcome will be in a receipt
  kAlready,      // this very job lay in new/ before
  kNotAccepted,  // nothing of it is in new/; the error says why
  kUnknown       // perhaps in new/, perhaps not durable. Handing the same job over again is safe
};

struct Submitted {
  HandOff hand_off = HandOff::kUnknown;
  std::optional<Error> error;  // of the last two
};

class Inbox {
 public:
  // `root`: the site's data directory ("/var/lib/intray"). kNotFound, kDenied: the caller has no place there.
  static Result<Inbox> open(const std::string& root, Kind kind) {
    intray_inbox* inbox = nullptr;
    intray_error* error = nullptr;
    const int code = intray_inbox_open(root.c_str(), static_cast<int>(kind), &inbox, &error);
    if (code != INTRAY_OK) return detail::take_error(code, error);
    return Inbox(inbox);
  }

  Submitted submit(const Job& job) {
    intray_error* error = nullptr;
    const int code = intray_submit(inbox_.get(), job.handle(), &error);
    return told(code, error);
  }
  // Files are synced in parallel and new/ once. One answer for each job, in order.
  std::vector<Submitted> submit(const std::vector<Job>& jobs) {
    std::vector<const intray_job*> given;
    for (const Job& job : jobs) given.push_back(job.handle());
    std::vector<int> codes(jobs.size(), INTRAY_OUTCOME_UNKNOWN);
    std::vector<intray_error*> errors(jobs.size(), nullptr);
    std::vector<Submitted> out(jobs.size());  // room first: then only words can be lost to a lack of memory
    (void)intray_submit_batch(inbox_.get(), given.data(), given.size(), codes.data(), errors.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = told(codes[i], errors[i]);
    return out;
  }

  // For calls of intray.h: the inbox stays this one's.
  intray_inbox* handle() const { return inbox_.get(); }

 private:
  struct Free {
    void operator()(intray_inbox* inbox) const { intray_inbox_free(inbox); }
  };
  explicit Inbox(intray_inbox* inbox) : inbox_(inbox) {}
  static Submitted told(int code, intray_error* error) {
    Submitted out;
    if (code == INTRAY_OK || code == INTRAY_ALREADY) {
      out.hand_off = code == INTRAY_OK ? HandOff::kAccepted : HandOff::kAlready;
      return out;
    }
    out.hand_off = code == INTRAY_OUTCOME_UNKNOWN ? HandOff::kUnknown : HandOff::kNotAccepted;
    out.error = detail::take_error(code, error);
    return out;
  }
  std::unique_ptr<intray_inbox, Free> inbox_;
};

}  // namespace intray
