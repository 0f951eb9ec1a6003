#include "cli/doctor/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/escape.h"
#include "cli/roles.h"
#include "limits.h"
#include "sys/attempt.h"
#include "sys/dir.h"
#include "sys/machine.h"
#include "sys/process.h"

namespace intray::cli::doctor {
namespace {

constexpr int kLandlockFloor = 2;  // Linux 5.19: below it a rename out of the tree can't be refused

class Lines {
 public:
  void add(Status status, std::string name, std::string text) {
    out_.push_back({.status = status, .name = std::move(name), .text = std::move(text), .shown_by = {}});
  }
  std::vector<Line> take() { return std::move(out_); }

 private:
  std::vector<Line> out_;
};

void add_layout(Lines& out, const Scene& scene) {
  if (!scene.owners) return;  // the missing roles are told
  const int slots = scene.save ? scene.save->limits.slots : 1;
  const inbox::CheckReport report = inbox::check(scene.site.root, model::JobKind::kSave, *scene.owners, slots);
  for (const std::string& line : report.errors) out.add(Status::kFail, "layout", base::escape(line));
  if (report.errors.empty())
    out.add(Status::kPass, "layout",
            base::escape(scene.site.root) + "/save: owners, groups and modes are those of 'intray init'");
  for (const std::string& line : report.warnings) out.add(Status::kWarn, "filesystem", base::escape(line));
  if (report.warnings.empty() && report.errors.empty())
    out.add(Status::kPass, "filesystem", "one local mount, and one on which a submitted job survives power loss");
  for (const Target t : {Target::kSaveDrop, Target::kSaveHeld, Target::kSaveReceipts, Target::kSaveLedger,
                         Target::kTree, Target::kSaveCredential})
    for (const std::string& path : scene.of(t).paths)
      if (sys::has_acl(path))
        out.add(Status::kWarn, "acl", base::escape(path) + ": has a POSIX ACL beyond its mode; 'getfacl' shows it");
}

void add_credential(Lines& out, const Scene& scene) {
  if (!scene.save) return;
  const std::string& path = scene.save->receiver.credential_file;
  const auto info = sys::stat_path(path);
  if (!info) {
    const Status status = info.error().code == base::ErrorCode::kDenied ? Status::kSkipped : Status::kWarn;
    return out.add(status, "credential", base::escape(info.error().what));
  }
  const std::string name = base::escape(path);
  const bool own = info->uid == 0 || (scene.owners && info->uid == scene.owners->executor_uid);
  if (info->type != sys::FileType::kRegular)
    out.add(Status::kFail, "credential", name + ": is not a regular file");
  else if (!own)
    out.add(Status::kFail, "credential",
            fmt::format("{}: belongs to uid {}, must be root's or the executor's", name, info->uid));
  else if ((info->mode & 0177U) != 0)
    out.add(Status::kFail, "credential", fmt::format("{}: mode {:04o}, must be 0400 or 0600", name, info->mode));
  else
    out.add(Status::kPass, "credential", fmt::format("{}: uid {}, mode {:04o}", name, info->uid, info->mode));
}

bool is_in(const sys::Account& account, const char* group) {
  const auto gid = sys::group_id(group);
  const std::vector<std::uint32_t> groups = sys::groups_of(account);
  return gid && std::ranges::find(groups, *gid) != groups.end();
}

// Groups decide as much as modes do: a slip of usermod must not go unseen.
void add_groups(Lines& out) {
  bool clean = true;
  const auto bad = [&](Status status, std::string text) {
    clean = false;
    out.add(status, "groups", std::move(text));
  };
  for (const char* const user : {kSaveUser, kSaveConnectorUser, kDeleteUser, kDeleteConnectorUser, kMirrorUser}) {
    const auto account = sys::account_of(std::string(user));
    if (!account) continue;
    for (const char* const group : {kRequesterGroup, kAdminGroup})
      if (is_in(*account, group))
        bad(Status::kFail, fmt::format("{} is in {}: it must be in no group of people who ask or look", user, group));
    for (const std::uint32_t gid : sys::groups_of(*account)) {
      const std::string name = sys::group_name(gid).value_or(std::to_string(gid));
      if (gid == account->gid || name == kRequesterGroup || name == kAdminGroup) continue;
      // A connector of a pair shares its executor's group, for the socket between them; the executor reads the mirror.
      if (name.starts_with("intray-")) continue;
      bad(Status::kWarn, fmt::format("{} is in {} too, and has what that group may", user, base::escape(name)));
    }
  }
  const auto requester = sys::account_of(std::string(kRequesterUser));
  if (requester && is_in(*requester, kAdminGroup))
    bad(Status::kFail, fmt::format("{} is in {}: it would read ledger and jobs", kRequesterUser, kAdminGroup));
  int admins = 0;
  for (const sys::Account& admin : sys::members_of(kAdminGroup, limits::kProbePeopleMax)) {
    ++admins;
    if (admin.name != kRequesterUser && !is_in(admin, kRequesterGroup))
      bad(Status::kWarn, fmt::format("{} is in {} and not in {}: it can't see tmp/, new/ and receipts/",
                                     base::escape(admin.name), kAdminGroup, kRequesterGroup));
  }
  if (admins == 0)
    out.add(Status::kInfo, "groups", fmt::format("nobody is in {}: only root sees the ledger", kAdminGroup));
  if (clean)
    out.add(Status::kPass, "groups", "executor, connector, mirror and requester are apart; admins are in both groups");
}

void add_ids(Lines& out) {
  std::map<std::uint32_t, std::string> users;
  bool clean = true;
  for (const char* const user :
       {kSaveUser, kSaveConnectorUser, kDeleteUser, kDeleteConnectorUser, kMirrorUser, kRequesterUser}) {
    const auto account = sys::account_of(std::string(user));
    if (!account) continue;
    const auto [at, is_new] = users.try_emplace(account->uid, user);
    if (account->uid == 0 || !is_new) {
      clean = false;
      out.add(Status::kFail, "users",
              account->uid == 0 ? fmt::format("{} is root", user)
                                : fmt::format("{} and {} are one uid, {}", at->second, user, account->uid));
    }
  }
  for (const std::string& line : missing_roles()) {
    clean = false;
    out.add(Status::kFail, "users", line);
  }
  if (clean) out.add(Status::kPass, "users", "each part has a uid of its own");
}

}  // namespace

std::vector<Line> machine_checks() {
  Lines out;
  const sys::Machine machine = sys::look_at_machine();
  out.add(Status::kInfo, "kernel",
          "Linux " + base::escape(machine.kernel) + (machine.systemd ? ", systemd" : ", no systemd"));
  out.add(machine.landlock_abi >= kLandlockFloor ? Status::kPass : Status::kWarn, "landlock",
          machine.landlock_abi == 0
              ? "none: executors only start where reduced confinement is allowed"
              : fmt::format("ABI {} (executors want {} or more)", machine.landlock_abi, kLandlockFloor));
  out.add(machine.seccomp_filter ? Status::kPass : Status::kWarn, "seccomp",
          machine.seccomp_filter ? "filters can kill a process" : "no filters: executors can't be confined");
  const bool mac = machine.apparmor == "on" || machine.selinux == "enforcing";
  out.add(Status::kInfo, "mandatory access control",
          fmt::format("AppArmor {}, SELinux {}{}", machine.apparmor, machine.selinux,
                      mac ? "" : ": only users, Landlock and seccomp keep processes apart"));
  if (machine.yama_ptrace) out.add(Status::kInfo, "yama", fmt::format("ptrace_scope {}", *machine.yama_ptrace));
  return out.take();
}

std::vector<Line> site_checks(const Scene& scene) {
  Lines out;
  if (scene.user_mode)
    out.add(Status::kNotSeparated, "users",
            "not separated: user mode, one user asks, acts and looks; fit for trying out");
  if (!scene.root)
    out.add(Status::kSkipped, "root", "not run as root: this user's own rights are all that could be tried");
  if (!scene.user_mode) {
    add_ids(out);
    add_groups(out);
  }
  if (!scene.settings_error.empty()) {
    std::string_view first = scene.settings_error;
    first = first.substr(0, first.find('\n'));
    out.add(Status::kFail, "settings", base::escape(first) + "; 'intray config check' tells all");
  }
  add_layout(out, scene);
  add_credential(out, scene);
  return out.take();
}

}  // namespace intray::cli::doctor
