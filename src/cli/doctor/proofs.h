// Purpose:    the named proofs: what must be true of the whole, each shown on this machine, or by a named test.
// Thread use: one thread; forks.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "cli/doctor/report.h"
#include "cli/doctor/scene.h"

namespace intray::cli::doctor {

// Where a proof lies in the test suite: a test program as `meson test` names it, and a case of it.
struct SuiteTest {
  std::string_view program;
  std::string_view name;
};

struct Proof {
  std::string_view name;
  // Tries it here; nullptr: the suite alone shows it, or it is not there yet.
  Line (*live)(const Scene& scene, const std::vector<CellRow>& cells);
  bool of_delete;  // NOT YET while the delete executor isn't installed
  std::vector<SuiteTest> tests;
};
const std::vector<Proof>& proofs();

std::vector<Line> prove(const Scene& scene, const std::vector<CellRow>& cells);

}  // namespace intray::cli::doctor
