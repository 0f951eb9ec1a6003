// Purpose:    the users and groups of a site for several users: their names, and what `intray init` and `doctor` need.
// Trust:      the machine's account database is root's.
// Thread use: one thread.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "inbox/layout.h"

namespace intray::cli {

inline constexpr const char* kSaveUser = "intray-save";
inline constexpr const char* kSaveConnectorUser = "intray-save-connector";
inline constexpr const char* kDeleteUser = "intray-delete";
inline constexpr const char* kDeleteConnectorUser = "intray-delete-connector";
inline constexpr const char* kMirrorUser = "intray-mirror";
inline constexpr const char* kMirrorGroup = "intray-mirror";  // reads the mirror: the executors are in it
inline constexpr const char* kRequesterUser = "intray-rq";
inline constexpr const char* kRequesterGroup = "intray-rq";
inline constexpr const char* kAdminGroup = "intray-adm";

// What a SAVE site can't do without.
inline constexpr auto kSaveSiteUsers = std::to_array({kSaveUser, kSaveConnectorUser, kMirrorUser, kRequesterUser});
inline constexpr auto kSaveSiteGroups = std::to_array({kMirrorGroup, kRequesterGroup, kAdminGroup});

// One line for each user, group and membership that is missing, with the command that makes it. Empty: all are there.
std::vector<std::string> missing_roles();

// In user mode everything is the caller's. Else by name; kNotFound: missing_roles() says what to do.
base::Result<inbox::Owners> site_owners(bool user_mode);

}  // namespace intray::cli
