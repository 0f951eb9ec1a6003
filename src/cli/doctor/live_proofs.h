// Purpose:    proofs that can be tried on the machine at hand; each answers with what it did and found.
// Trust:      programs and settings are root's; what is tried is the very code and files installed here.
// Thread use: one thread; one of them forks.
#pragma once

#include <vector>

#include "cli/doctor/report.h"
#include "cli/doctor/scene.h"

namespace intray::cli::doctor {

// From cells of the matrix: the requester, every one of them, and unrelated agents read no credential and no key.
Line requester_holds_no_credential(const Scene& scene, const std::vector<CellRow>& cells);
// The installed program names the save and the read route alone, and its user reaches nothing of DELETE's.
Line save_executor_only_saves(const Scene& scene, const std::vector<CellRow>& cells);
// No private-key block in the settings' folder or a service user's home, and no program imports a signing function.
Line no_signing_key(const Scene& scene, const std::vector<CellRow>& cells);
// The parser of jobs that the executor is built from, given jobs that ask for more. A sound job passes, or nothing is
// claimed.
Line no_generic_dispatch(const Scene& scene, const std::vector<CellRow>& cells);
Line no_arbitrary_url(const Scene& scene, const std::vector<CellRow>& cells);
Line no_arbitrary_method(const Scene& scene, const std::vector<CellRow>& cells);
Line no_arbitrary_headers(const Scene& scene, const std::vector<CellRow>& cells);
// The installed programs import no function that starts a shell, and name none.
Line no_shell(const Scene& scene, const std::vector<CellRow>& cells);
// Processes race for renames in a scratch folder of the inbox.
Line atomic_claim(const Scene& scene, const std::vector<CellRow>& cells);
// The tables of outcomes and moves that the executor is built from.
Line unknown_fails_closed(const Scene& scene, const std::vector<CellRow>& cells);

}  // namespace intray::cli::doctor
