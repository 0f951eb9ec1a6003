// Purpose:    what an executor says of its own confinement on this machine: `intray-save --config FILE --self-test`.
// Trust:      the program is root's; its answer is bounded, parsed and escaped all the same.
// Thread use: one thread; runs a child.
//
// The program prints one JSON object {"status":"full|reduced|none","landlock_abi":N,"checks":[{"name":…,
// "result":"pass|fail","how":…}]} and ends with 0, or 70 where it would not start.
#pragma once

#include <string_view>
#include <vector>

#include "cli/doctor/report.h"
#include "cli/doctor/scene.h"

namespace intray::cli::doctor {

std::vector<Line> executor_self_tests(const Scene& scene);

// The lines of one answer. Pure.
std::vector<Line> read_self_test(std::string_view program, int exit_code, std::string_view output);

}  // namespace intray::cli::doctor
