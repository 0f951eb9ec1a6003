#include "sys/fault.h"

#include <utility>

namespace intray::sys::fault {

#ifdef INTRAY_FAULT_POINTS
namespace {

std::function<Verdict(Op)>& hook() {
  static std::function<Verdict(Op)> instance;
  return instance;
}

}  // namespace

Verdict check(Op op) { return hook() ? hook()(op) : Verdict{}; }
void set_hook(std::function<Verdict(Op)> new_hook) { hook() = std::move(new_hook); }
#endif

}  // namespace intray::sys::fault
