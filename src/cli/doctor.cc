#include "cli/doctor.h"

#include <algorithm>
#include <iterator>

#include "cli/doctor/checks.h"
#include "cli/doctor/probe.h"
#include "cli/doctor/proofs.h"
#include "cli/doctor/report.h"
#include "cli/doctor/scene.h"
#include "cli/doctor/self_test.h"
#include "cli/exit_code.h"

namespace intray::cli {

int run_doctor(Console& console, const std::string& root) {
  using namespace doctor;  // NOLINT(google-build-using-namespace): this command's own
  const auto scene = look(root);
  if (!scene) {
    complain(console, scene.error());
    return kUnreadable;
  }
  Report report;
  report.checks = machine_checks();
  std::ranges::move(site_checks(*scene), std::back_inserter(report.checks));
  report.subjects = notes_of(*scene);
  auto cells = probe(*scene);
  if (!cells) {
    complain(console, cells.error());
    return exit_code_of(cells.error());
  }
  report.cells = std::move(*cells);
  report.self_tests = executor_self_tests(*scene);
  report.proofs = prove(*scene, report.cells);
  report.complete = scene->root || scene->user_mode;
  print(console, report);
  if (count(report).failed > 0) return kNo;
  if (report.complete) return kDone;
  complain(console, "not run as root: the boundary between users was not tried");
  return kUnreadable;
}

}  // namespace intray::cli
