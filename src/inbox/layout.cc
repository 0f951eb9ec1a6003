#include "inbox/layout.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "sys/process.h"

namespace intray::inbox {
namespace {

using base::ErrorCode;

constexpr std::uint32_t kDropMode = 03770;     // sticky, setgid: requesters add names, and take nobody else's
constexpr std::uint32_t kPrivateMode = 02750;  // setgid: the group may look
constexpr std::uint32_t kTreeMode = 0755;
constexpr std::uint32_t kLockMode = 0600;
constexpr std::uint32_t kHolderMode = 0640;
constexpr std::uint32_t kUserDirMode = 0700;
constexpr std::uint32_t kUserFileMode = 0600;
constexpr std::uint32_t kFileMode = 0640;
constexpr std::string_view kUnfinished = ".unfinished";  // suffix of what make() has not given its owner and mode yet
constexpr std::size_t kPlacesBesidesSlots = 10;          // of plan(), for its reserve()

// Whose rename is one step across a power loss, given a journal where there is a choice.
constexpr auto kDurableNames = std::to_array<std::string_view>({"ext3", "ext4", "xfs", "btrfs", "zfs"});

std::string octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

std::string person(std::uint32_t id, const std::optional<std::string>& name) {
  return name ? std::to_string(id) + " (" + *name + ")" : std::to_string(id);
}

std::vector<Place> plan_files(const Owners& owners, int slots) {
  std::vector<Place> files;
  files.reserve(2 * static_cast<std::size_t>(slots));
  for (int slot = 0; slot < slots; ++slot) {
    const std::string stem = std::to_string(slot);
    files.push_back({stem + ".lock", owners.executor_uid, owners.admin_gid, kLockMode});
    files.push_back(
        {stem + ".holder", owners.executor_uid, owners.admin_gid, owners.user_mode ? kUserFileMode : kHolderMode});
  }
  return files;
}

Place tree_place(std::string name, const Owners& owners) {
  return {std::move(name), owners.root_uid, owners.root_gid, owners.user_mode ? kUserDirMode : kTreeMode};
}

// What differs from `want`, as one line for each difference.
void compare(const std::string& path, const Place& want, const sys::FileInfo& have, sys::FileType type,
             std::vector<std::string>& problems) {
  if (have.type != type) {
    problems.push_back(path + ": is not a " + (type == sys::FileType::kDirectory ? "directory" : "regular file"));
    return;
  }
  if (have.uid != want.uid)
    problems.push_back(path + ": belongs to uid " + person(have.uid, sys::user_name(have.uid)) + ", must be " +
                       person(want.uid, sys::user_name(want.uid)));
  if (have.gid != want.gid)
    problems.push_back(path + ": has gid " + std::to_string(have.gid) + ", must be " + std::to_string(want.gid));
  if (have.mode != want.mode)
    problems.push_back(path + ": has mode " + octal(have.mode) + ", must be " + octal(want.mode));
}

// "lease/0" is looked up as "0" in lease/: names of sys have one component.
struct Spot {
  const sys::Dir* parent;
  std::string name;
};

Spot spot_of(const sys::Dir& base, const std::optional<sys::Dir>& lease, const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {&base, name};
  return {lease ? &*lease : nullptr, name.substr(slash + 1)};
}

base::Result<void> give(int fd, const Place& place) {
  const sys::FileInfo have = INTRAY_TRY(sys::stat_fd(fd));
  // In user mode nothing changes hands, and an unprivileged chown to oneself may still be refused.
  if (have.uid != place.uid || have.gid != place.gid) INTRAY_TRY(sys::change_owner(fd, place.uid, place.gid));
  return sys::change_mode(fd, place.mode);  // after the owner: chown clears setgid
}

// Made under another name and renamed when owner and mode are right, so that an interrupted run leaves nothing that
// looks finished. kExists is success: somebody else made it meanwhile, and check() judges it.
base::Result<void> finish(const sys::Dir& parent, const std::string& unfinished, const std::string& name) {
  auto moved = parent.move(unfinished, parent, name);
  if (!moved && moved.error().code != ErrorCode::kExists) return moved;
  return parent.sync();
}

base::Result<void> make_dir(const sys::Dir& parent, const std::string& name, const Place& place) {
  if (parent.stat(name)) return {};
  const std::string unfinished = name + std::string(kUnfinished);
  if (auto made = parent.make_subdir(unfinished, kUserDirMode); !made && made.error().code != ErrorCode::kExists)
    return made;
  const sys::Dir dir = INTRAY_TRY(parent.open_subdir(unfinished));
  if (auto given = give(dir.fd(), place); !given) return std::unexpected(base::with_context(given.error(), dir.path()));
  return finish(parent, unfinished, name);
}

base::Result<void> make_file(const sys::Dir& parent, const Place& place) {
  if (parent.stat(place.name)) return {};
  const std::string unfinished = place.name + std::string(kUnfinished);
  const sys::Fd file = INTRAY_TRY(parent.open_rw(unfinished, kUserFileMode));
  if (auto given = give(file.get(), place); !given)
    return std::unexpected(base::with_context(given.error(), parent.path() + "/" + unfinished));
  if (auto synced = sys::sync_file(file.get()); !synced) return synced;
  return finish(parent, unfinished, place.name);
}

base::Result<sys::Dir> make_root(const std::string& root, const Owners& owners) {
  auto dir = sys::Dir::open(root);
  if (dir || dir.error().code != ErrorCode::kNotFound) return dir;
  std::string path = root;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::size_t slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..")
    return base::fail(ErrorCode::kInvalid, root + ": not a directory to make");
  const sys::Dir parent = INTRAY_TRY(sys::Dir::open(above));
  if (auto made = make_dir(parent, name, tree_place(name, owners)); !made) return std::unexpected(made.error());
  return sys::Dir::open(root);
}

void check_filesystem(const sys::Dir& dir, CheckReport& report) {
  const auto fs = sys::filesystem_of(dir);
  if (!fs) {
    report.errors.push_back(fs.error().what);
    return;
  }
  if (fs->is_network) {
    report.errors.push_back(dir.path() + ": is on " + fs->name +
                            ", a network filesystem, where renames, locks and events can't be relied on");
    return;
  }
  const bool known = std::find(kDurableNames.begin(), kDurableNames.end(), fs->name) != kDurableNames.end();
  if (known && fs->has_journal.value_or(true)) return;
  const std::string what = known ? fs->name + " without a journal" : fs->name;
  report.warnings.push_back(dir.path() + ": is on " + what +
                            "; that a submitted job survives power loss (G7) is not claimed there");
}

// Modes say who may do what only where no ACL says more; and a default ACL changes the modes of files made later.
void check_acls(const sys::Dir& dir, CheckReport& report) {
  const auto own = dir.has_acl();
  const auto handed_down = dir.has_default_acl();
  for (const auto* const answer : {&own, &handed_down})
    if (!*answer) report.errors.push_back(dir.path() + ": " + answer->error().what);
  if (own && *own)
    report.errors.push_back(dir.path() + ": has an ACL, which gives rights beyond its mode; remove it with setfacl -b");
  if (handed_down && *handed_down)
    report.errors.push_back(dir.path() +
                            ": has a default ACL, which changes the modes of new files; remove it with setfacl -k");
}

// Another filesystem, or the same one mounted over it: a rename into it would fail (EXDEV).
bool is_other_mount(const sys::Dir& base, const sys::FileInfo& base_info, const Spot& spot, const sys::FileInfo& info) {
  const auto mount = spot.parent->mount_id(spot.name);
  const auto base_mount = base.mount_id_self();
  return info.device != base_info.device || (mount && base_mount && *mount != *base_mount);
}

void check_place(const sys::Dir& base, const sys::FileInfo& base_info, const Spot& spot, const std::string& path,
                 const Place& want, sys::FileType type, CheckReport& report) {
  const auto info = spot.parent->stat(spot.name);
  if (!info) {
    report.errors.push_back(info.error().code == ErrorCode::kNotFound ? path + ": is missing" : info.error().what);
    return;
  }
  compare(path, want, *info, type, report.errors);
  if (is_other_mount(base, base_info, spot, *info))
    report.errors.push_back(path + ": is on another mount than " + base.path());
  if (info->type != sys::FileType::kDirectory || type != sys::FileType::kDirectory) return;
  if (const auto dir = spot.parent->open_subdir(spot.name))
    check_acls(*dir, report);
  else if (dir.error().code == ErrorCode::kDenied)  // a tool of another user's; an executor may open all of them
    report.warnings.push_back(path + ": this user can't see whether it has an ACL");
  else
    report.errors.push_back(dir.error().what);
}

std::optional<sys::Dir> open_quietly(const sys::Dir& parent, const std::string& name) {
  auto dir = parent.open_subdir(name);
  return dir ? std::optional(std::move(*dir)) : std::nullopt;
}

}  // namespace

std::vector<Place> plan(const Owners& owners, int slots) {
  const auto mode = [&](std::uint32_t system_mode) { return owners.user_mode ? kUserDirMode : system_mode; };
  std::vector<Place> places;
  places.reserve(kPlacesBesidesSlots + static_cast<std::size_t>(slots));
  for (const char* const name : {"tmp", "new"})
    places.push_back({name, owners.executor_uid, owners.requester_gid, mode(kDropMode)});
  for (const char* const name : {"cur", "done", "failed", "rejected", "unknown", "ledger"})
    places.push_back({name, owners.executor_uid, owners.admin_gid, mode(kPrivateMode)});
  places.push_back({"receipts", owners.executor_uid, owners.requester_gid, mode(kPrivateMode)});
  places.push_back(tree_place("lease", owners));
  for (int slot = 0; slot < slots; ++slot)
    places.push_back({"lease/" + std::to_string(slot), owners.executor_uid, owners.admin_gid, mode(kPrivateMode)});
  return places;
}

base::Result<void> make(const std::string& root, model::JobKind kind, const Owners& owners, int slots) {
  const sys::Dir top = INTRAY_TRY(make_root(root, owners));
  const std::string kind_name(model::to_word(kind));
  if (auto made = make_dir(top, kind_name, tree_place(kind_name, owners)); !made) return made;
  const sys::Dir base = INTRAY_TRY(top.open_subdir(kind_name));
  std::optional<sys::Dir> lease;
  for (const Place& place : plan(owners, slots)) {
    const Spot spot = spot_of(base, lease, place.name);
    if (spot.parent == nullptr) std::abort();  // plan() names lease before what is in it
    if (auto made = make_dir(*spot.parent, spot.name, place); !made) return made;
    if (place.name == "lease") lease = INTRAY_TRY(base.open_subdir("lease"));
  }
  for (const Place& place : plan_files(owners, slots))
    if (auto made = make_file(*lease, place); !made) return made;

  const CheckReport report = check(root, kind, owners, slots);
  if (report.errors.empty()) return {};
  std::string lines;
  for (const std::string& error : report.errors) lines += (lines.empty() ? "" : "\n") + error;
  return base::fail(ErrorCode::kDenied, lines);
}

CheckReport check(const std::string& root, model::JobKind kind, const Owners& owners, int slots) {
  CheckReport report;
  const auto top = sys::Dir::open(root);
  const auto top_info = top ? top->stat_self() : std::unexpected(top.error());
  if (!top_info) {
    report.errors.push_back(top_info.error().code == ErrorCode::kNotFound ? root + ": is missing"
                                                                          : top_info.error().what);
    return report;
  }
  // The root is shared by both kinds and may be a mount point, or one the admin made: its owner and mode are held to
  // what matters, that nobody else can swap a tree below it.
  if (top_info->uid != owners.root_uid && top_info->uid != 0)
    report.errors.push_back(root + ": belongs to uid " + std::to_string(top_info->uid) + ", must be " +
                            std::to_string(owners.root_uid));
  if ((top_info->mode & 0022U) != 0)
    report.errors.push_back(root + ": others can write to it (mode " + octal(top_info->mode) + ")");
  if (!owners.user_mode && (top_info->mode & 0005U) != 0005U)
    report.errors.push_back(root + ": requesters can't reach what is below it (mode " + octal(top_info->mode) +
                            ", must be 0755)");

  const std::string kind_name(model::to_word(kind));
  const auto base = top->open_subdir(kind_name);
  const auto base_info = base ? base->stat_self() : std::unexpected(base.error());
  if (!base_info) {
    const std::string path = root + "/" + kind_name;
    report.errors.push_back(base_info.error().code == ErrorCode::kNotFound ? path + ": is missing"
                                                                           : base_info.error().what);
    return report;
  }
  compare(base->path(), tree_place(kind_name, owners), *base_info, sys::FileType::kDirectory, report.errors);
  check_acls(*base, report);
  check_filesystem(*base, report);
  const std::optional<sys::Dir> lease = open_quietly(*base, "lease");
  for (const Place& place : plan(owners, slots)) {
    const Spot spot = spot_of(*base, lease, place.name);
    const std::string path = base->path() + "/" + place.name;
    if (spot.parent == nullptr)
      report.errors.push_back(path + ": is missing");
    else
      check_place(*base, *base_info, spot, path, place, sys::FileType::kDirectory, report);
  }
  if (!lease) return report;
  for (const Place& place : plan_files(owners, slots))
    check_place(*base, *base_info, {&*lease, place.name}, lease->path() + "/" + place.name, place,
                sys::FileType::kRegular, report);
  return report;
}

// Each one is opened into a variable first: leaving in the midst of a braced list would leak the ones before.
base::Result<DropBox> DropBox::open(const std::string& root, model::JobKind kind) {
  const std::string base = root + "/" + std::string(model::to_word(kind));
  sys::Dir tmp = INTRAY_TRY(sys::Dir::open(base + "/tmp"));
  sys::Dir fresh = INTRAY_TRY(sys::Dir::open(base + "/new"));
  return DropBox{.tmp = std::move(tmp), .fresh = std::move(fresh)};
}

base::Result<Inbox> Inbox::open(const std::string& root, model::JobKind kind, int slots, bool user_mode) {
  const sys::Dir top = INTRAY_TRY(sys::Dir::open(root));
  const sys::Dir base = INTRAY_TRY(top.open_subdir(std::string(model::to_word(kind))));
  sys::Dir tmp = INTRAY_TRY(base.open_subdir("tmp"));
  sys::Dir fresh = INTRAY_TRY(base.open_subdir("new"));
  sys::Dir cur = INTRAY_TRY(base.open_subdir("cur"));
  sys::Dir lease = INTRAY_TRY(base.open_subdir("lease"));
  std::vector<sys::Dir> slot_dirs;
  slot_dirs.reserve(static_cast<std::size_t>(slots));
  for (int slot = 0; slot < slots; ++slot) slot_dirs.push_back(INTRAY_TRY(lease.open_subdir(std::to_string(slot))));
  sys::Dir done = INTRAY_TRY(base.open_subdir("done"));
  sys::Dir failed = INTRAY_TRY(base.open_subdir("failed"));
  sys::Dir rejected = INTRAY_TRY(base.open_subdir("rejected"));
  sys::Dir unknown = INTRAY_TRY(base.open_subdir("unknown"));
  sys::Dir receipts = INTRAY_TRY(base.open_subdir("receipts"));
  return Inbox{.tmp = std::move(tmp),
               .fresh = std::move(fresh),
               .cur = std::move(cur),
               .lease = std::move(lease),
               .slots = std::move(slot_dirs),
               .done = std::move(done),
               .failed = std::move(failed),
               .rejected = std::move(rejected),
               .unknown = std::move(unknown),
               .receipts = std::move(receipts),
               .file_mode = user_mode ? kUserFileMode : kFileMode};
}

const sys::Dir& Inbox::place_of(model::State state) const {
  switch (state) {
    case model::State::kSucceeded: return done;
    case model::State::kFailed: return failed;
    case model::State::kRejected: return rejected;
    case model::State::kUnknown: return unknown;
    case model::State::kReady:
    case model::State::kRetryable: return cur;
    case model::State::kCreated:
    case model::State::kClaimed:
    case model::State::kExecuting: break;
  }
  std::abort();  // new/ and the leases are no places to put a file
}

std::string ledger_path(const std::string& root, model::JobKind kind) {
  return root + "/" + std::string(model::to_word(kind)) + "/ledger/ledger.db";
}

}  // namespace intray::inbox
