// Purpose:    the paths behind each target of the matrix at one site.
// Thread use: one thread.
#pragma once

#include "cli/doctor/scene.h"

namespace intray::cli::doctor {

// Fills in scene.targets; everything else of the scene is set.
void set_targets(Scene& scene);

}  // namespace intray::cli::doctor
