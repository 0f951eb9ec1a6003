// Purpose:    steps 2 and 3 of a take: open what lies in the lease, refuse what is no honest file, read it once.
// Process:    the executor.
// Trust:      the file's type, size, links, owner and content are a requester's, and may change while this runs.
// Thread use: pure apart from the calls.
//
// Internal to inbox.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "inbox/intake.h"
#include "inbox/names.h"
#include "sys/dir.h"

namespace intray::inbox {

// A refusal is a result: TakenFile::refused. kNotFound: it is not there. kBusy: out of descriptors or memory, try
// again. The file stays where it is in any case.
base::Result<TakenFile> read_taken(const sys::Dir& lease, const LeaseName& name, std::string dropped_name,
                                   const std::set<std::uint32_t>& requester_uids, base::WallTime now);

}  // namespace intray::inbox
