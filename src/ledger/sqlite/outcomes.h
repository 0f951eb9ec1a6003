// Purpose:    what happens to a claimed job: its start with an attempt, its end, its retry; and the ends that time
// brings. Trust:      the holder's claim is checked against the row; a holder that lost it leaves late evidence and
// changes nothing. Thread use: one thread. Durability: everything is part of the caller's transaction.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "ledger/sqlite/work.h"

namespace intray::ledger::sqlite {

// How a job ends.
struct End {
  model::Event event;
  model::State to;
  std::optional<model::Reason> reason;
  model::ResultWord result;
  model::Evidence evidence;
  std::optional<base::WallTime> settle_until;
};

// J05 with its attempt. A job whose start is refused for the lease or the gate goes back to waiting (a DELETE ends);
// its attempt is VOID.
base::Result<Started> start(Work& work, const Start& start, std::vector<Ended>& ended);
// False: the claim was gone, or the table has no such move.
base::Result<bool> finish(Work& work, const Finish& finish, std::vector<Ended>& ended);
// What a holder that lost its claim or epoch saw.
base::Result<void> keep_late_evidence(Work& work, const Finish& finish);

// J05 without an attempt.
base::Result<void> pass_start(Work& work, Job& job);
// Ends the job by an edge that the caller knows to exist (job.may_have_effect already says what is known now), then its
// followers. Appends all of them to `ended`.
base::Result<void> end(Work& work, Job& job, const End& how, Ended::From from, std::vector<Ended>& ended);
// J13, then J16 or J17 where attempts or deadline are used up.
struct Retry {
  std::optional<model::Reason> reason;
  model::Evidence evidence;
  std::optional<base::WallTime> not_before;
  std::optional<base::WallTime> settle_until;
  bool suspect = false;
  bool unsent = false;  // the attempt that ends here never left the machine
};
base::Result<void> retry(Work& work, Job& job, const Retry& how, Ended::From from, std::vector<Ended>& ended);
// J16 or J17 for a RETRYABLE job whose attempts or deadline are used up; false: neither is.
base::Result<bool> exhaust(Work& work, Job& job, Ended::From from, std::vector<Ended>& ended);
// J04, J16, J17 or J20 for a waiting job whose time or attempts are used up; false: neither is.
base::Result<bool> end_if_late(Work& work, Job& job, std::vector<Ended>& ended);
// Takes a follower the way its final first job went (J03, J05, J09 to J11).
base::Result<void> replay(Work& work, Job& follower, const Job& first, Ended::From from, std::vector<Ended>& ended);
// J04, J16, J17, J20 for what is past its deadline.
base::Result<void> expire(Work& work, std::vector<Ended>& ended);

// The result word of a refused job of this kind.
model::ResultWord refused_word(model::JobKind kind);

}  // namespace intray::ledger::sqlite
