// Purpose:    facts of machine and site beside the matrix: kernel, layout, filesystem, users, groups, the secret's
// file. Thread use: one thread.
#pragma once

#include <vector>

#include "cli/doctor/report.h"
#include "cli/doctor/scene.h"

namespace intray::cli::doctor {

std::vector<Line> machine_checks();
std::vector<Line> site_checks(const Scene& scene);

}  // namespace intray::cli::doctor
