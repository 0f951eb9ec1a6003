// Purpose:    the tables made from seccomp/<role>.policy, one for each role of process.
// Process:    executors and intray-connector link the one of their role.
// Trust:      built in.
// Thread use: constants.
#pragma once

#include <cstddef>

#include "sys/seccomp_filter.h"

namespace intray::sys {

extern const FilterRule* const kSave;
extern const std::size_t kSaveCount;
extern const FilterRule* const kConnector;
extern const std::size_t kConnectorCount;
extern const FilterRule* const kSanitizer;  // added to the others in sanitizer builds
extern const std::size_t kSanitizerCount;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitizerBuild = true;
#else
inline constexpr bool kSanitizerBuild = false;
#endif

}  // namespace intray::sys
