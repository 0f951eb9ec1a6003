#include "cli/roles.h"

#include <algorithm>
#include <filesystem>

#include "sys/identity.h"
#include "sys/process.h"

namespace intray::cli {
namespace {

// The package's lists of users and groups.
constexpr const char* kSysusersFile = "/usr/lib/sysusers.d/intray.conf";
constexpr const char* kBySysusers = "systemd-sysusers intray.conf intray-save.conf";

bool is_member(const sys::Account& account, std::uint32_t gid) {
  const std::vector<std::uint32_t> groups = sys::groups_of(account);
  return std::ranges::find(groups, gid) != groups.end();
}

}  // namespace

std::vector<std::string> missing_roles() {
  std::error_code error;
  const bool packaged = std::filesystem::exists(kSysusersFile, error);
  std::vector<std::string> out;
  for (const char* const user : kSaveSiteUsers)
    if (!sys::user_id(user))
      out.push_back("the user " + std::string(user) + " is missing; make it with: " +
                    (packaged ? kBySysusers : "adduser --system --group --no-create-home " + std::string(user)));
  for (const char* const group : kSaveSiteGroups) {
    // The groups of requester and mirror come with their users.
    const bool told =
        std::ranges::find(kSaveSiteUsers, std::string_view(group)) != kSaveSiteUsers.end() && !sys::user_id(group);
    if (!told && !sys::group_id(group))
      out.push_back("the group " + std::string(group) + " is missing; make it with: " +
                    (packaged ? kBySysusers : "addgroup --system " + std::string(group)));
  }
  const auto executor = sys::account_of(std::string(kSaveUser));
  const auto readers = sys::group_id(kMirrorGroup);
  if (executor && readers && !is_member(*executor, *readers))
    out.push_back(std::string(kSaveUser) + " is not in the group " + kMirrorGroup +
                  " and can't read the mirror; add it with: " +
                  (packaged ? kBySysusers : "adduser " + std::string(kSaveUser) + " " + kMirrorGroup));
  return out;
}

base::Result<inbox::Owners> site_owners(bool user_mode) {
  if (user_mode) {
    const std::uint32_t uid = sys::effective_uid();
    const std::uint32_t gid = sys::effective_gid();
    return inbox::Owners{uid, gid, gid, uid, gid, true};
  }
  const auto executor = sys::user_id(kSaveUser);
  const auto requesters = sys::group_id(kRequesterGroup);
  const auto admins = sys::group_id(kAdminGroup);
  if (!executor || !requesters || !admins) {
    std::string what;
    for (const std::string& line : missing_roles()) what += (what.empty() ? "" : "\n") + line;
    return base::fail(base::ErrorCode::kNotFound, what);
  }
  inbox::Owners out;
  out.executor_uid = *executor;
  out.requester_gid = *requesters;
  out.admin_gid = *admins;
  return out;
}

}  // namespace intray::cli
