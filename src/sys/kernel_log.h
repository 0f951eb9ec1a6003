// Purpose:    what the kernel has said since boot (/dev/kmsg), for the little of it that concerns us.
// Trust:      the kernel's; but processes name themselves, and their names stand in its lines.
// Thread use: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace intray::sys {

struct KernelRecord {
  base::WallTime at;  // by the present offset between the clocks: exact where the clock was not set since
  std::string text;
};

// The records whose text holds `part`, oldest first, as many as the kernel still has. kDenied: reading it takes
// CAP_SYSLOG where kernel.dmesg_restrict is set, and always root here.
base::Result<std::vector<KernelRecord>> kernel_records(const std::string& part, const base::Clock& clock);

}  // namespace intray::sys
