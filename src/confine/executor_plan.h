// Purpose:    the part of a plan that all executor kinds share; a kind adds its own calls and places.
// Process:    executors.
// Trust:      as plan.h.
// Thread use: values.
#pragma once

#include "confine/plan.h"

namespace intray::confine {

// Without role and calls.
base::Result<Plan> executor_plan(const ExecutorPlaces& places);

}  // namespace intray::confine
