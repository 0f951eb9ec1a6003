#include "confine/executor_plan.h"
#include "sys/seccomp_tables.h"

namespace intray::confine {

base::Result<Plan> save_plan(const ExecutorPlaces& places) {
  Plan plan = INTRAY_TRY(executor_plan(places));
  plan.role = "save";
  plan.calls = sys::kSave;
  plan.call_count = sys::kSaveCount;
  return plan;
}

}  // namespace intray::confine
