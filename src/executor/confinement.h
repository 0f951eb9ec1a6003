// Purpose:    an executor's lock-down: which directories and descriptors its plan names, the proof before it, the lock,
//             and the proof after it.
// Process:    executors, at start; nothing of it runs later.
// Trust:      see confine/. A proof that fails is no start.
// Thread use: one thread. prove_denials() forks, so it comes before the slot's lock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "confine/lock_down.h"
#include "confine/self_test.h"
#include "inbox/layout.h"
#include "sys/event_loop.h"

namespace intray::executor {

class Confinement {
 public:
  using MakePlan = base::Result<confine::Plan> (*)(const confine::ExecutorPlaces&);  // the kind's: confine::save_plan

  // `foreign_program` is any program this user may execute.
  Confinement(const config::Settings& settings, model::JobKind kind, const inbox::Inbox& inbox,
              const sys::EventLoop& loop, int channel, std::string settings_file, std::string foreign_program,
              MakePlan make_plan);

  // In children, each locked down like this process will be.
  void prove_denials();

  // Gives everything up, for good. Requires everything opened, and that nothing needs a new power from here on.
  // kUnsupported: see confine::lock_down. An error: the process must end.
  base::Result<void> lock(base::Slot slot);

  // After lock(): that the filter and the path rules are there, and that a file goes through the directories of a job.
  void prove_works(base::Slot slot);
  void add(confine::Finding finding) { findings_.push_back(std::move(finding)); }

  const confine::Status& status() const { return status_; }
  const std::vector<confine::Finding>& findings() const { return findings_; }
  // The names of those that failed, with what was seen; empty: all passed.
  std::string failures() const;
  bool only_failed(std::string_view name) const;  // something failed, and nothing but this
  // {"checks":[{"how":…,"name":…,"result":"pass"}],"landlock_abi":7,"status":"full"}
  std::string report() const;

 private:
  base::Result<confine::Plan> plan(base::Slot slot) const;
  confine::SelfTestTargets targets(base::Slot slot, std::string file_name) const;
  void prove_moves(base::Slot slot);

  const config::Settings& settings_;
  model::JobKind kind_;
  const inbox::Inbox& inbox_;
  const sys::EventLoop& loop_;
  int channel_;
  std::string settings_file_;
  std::string foreign_program_;
  MakePlan make_plan_;
  std::string moved_name_;  // made by lock(), moved by prove_moves()
  confine::Status status_;
  std::vector<confine::Finding> findings_;
};

}  // namespace intray::executor
