#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "limits.h"
#include "sys/call.h"
#include "sys/dir.h"

namespace intray::sys {
namespace {

// Served by another machine (or by the host of a virtual one), where a rename, a lock or a change made elsewhere isn't
// seen as on a local disk. Names as in /proc/self/mountinfo.
constexpr auto kNetworkNames = std::to_array<std::string_view>({
    "9p",
    "acfs",
    "afs",
    "autofs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "fuse.afp",
    "fuse.ceph",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.davfs2",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.goofys",
    "fuse.gvfsd-fuse",
    "fuse.juicefs",
    "fuse.mfs",
    "fuse.moosefs",
    "fuse.nfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.seaweedfs",
    "fuse.smbnetfs",
    "fuse.sshfs",
    "fuse.vmhgfs-fuse",
    "gfs2",
    "glusterfs",
    "gpfs",
    "kafs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "prl_fs",
    "pvfs2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
    "vmhgfs",
    "weka",
    "wekafs",
});

struct Magic {
  std::uint64_t number;
  std::string_view name;
};

// Only a fallback for where /proc tells nothing; numbers of statfs(2), those that linux/magic.h lacks by hand.
constexpr auto kMagics = std::to_array<Magic>({
    {EXT4_SUPER_MAGIC, "ext4"}, {XFS_SUPER_MAGIC, "xfs"},   {BTRFS_SUPER_MAGIC, "btrfs"},
    {0x2fc12fc1, "zfs"},        {TMPFS_MAGIC, "tmpfs"},     {OVERLAYFS_SUPER_MAGIC, "overlay"},
    {F2FS_SUPER_MAGIC, "f2fs"}, {NFS_SUPER_MAGIC, "nfs"},   {SMB_SUPER_MAGIC, "smbfs"},
    {CIFS_SUPER_MAGIC, "cifs"}, {SMB2_SUPER_MAGIC, "smb3"}, {V9FS_MAGIC, "9p"},
    {AFS_SUPER_MAGIC, "afs"},   {CODA_SUPER_MAGIC, "coda"}, {CEPH_SUPER_MAGIC, "ceph"},
    {0x0bd00bd0, "lustre"},     {0x47504653, "gpfs"},       {OCFS2_SUPER_MAGIC, "ocfs2"},
    {0x01161970, "gfs2"},       {FUSE_SUPER_MAGIC, "fuse"},
});

struct Mount {
  std::string type;
  std::string device;  // "major:minor"
};

// The line of /proc/self/mountinfo with this mount id:
//   36 35 98:0 /root /mount/point options [optional fields] - type source super-options
std::optional<Mount> find_mount(std::uint64_t mount_id) {
  const auto text = read_file("/proc/self/mountinfo", limits::kProcFileBytesMax);
  if (!text) return std::nullopt;
  const std::string wanted = std::to_string(mount_id) + " ";
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.starts_with(wanted)) continue;
    const std::size_t parent_end = line.find(' ', wanted.size());
    const std::size_t device_end = line.find(' ', parent_end + 1);
    const std::size_t dash = line.find(" - ");
    if (parent_end == std::string_view::npos || device_end == std::string_view::npos || dash == std::string_view::npos)
      return std::nullopt;
    const std::string_view tail = line.substr(dash + 3);
    return Mount{std::string(tail.substr(0, tail.find(' '))),
                 std::string(line.substr(parent_end + 1, device_end - parent_end - 1))};
  }
  return std::nullopt;
}

std::string name_by_magic(std::uint64_t magic) {
  const auto* const found =
      std::find_if(kMagics.begin(), kMagics.end(), [&](const Magic& m) { return m.number == magic; });
  if (found != kMagics.end()) return std::string(found->name);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "unknown:0x%llx", static_cast<unsigned long long>(magic));
  return text.data();
}

// jbd2 shows each journal in use as /proc/fs/jbd2/<device>-<inode>. A kernel that has jbd2 and shows none for this
// device mounts it without. (An external journal goes by its own device's name and is taken for none.)
std::optional<bool> find_journal(const std::string& device_numbers) {
  std::array<char, 4096> target{};
  const ssize_t n = ::readlink(("/sys/dev/block/" + device_numbers).c_str(), target.data(), target.size());
  if (n <= 0 || static_cast<std::size_t>(n) == target.size()) return std::nullopt;
  const std::string_view link(target.data(), static_cast<std::size_t>(n));
  const std::string prefix = std::string(link.substr(link.rfind('/') + 1)) + "-";
  const auto journals = Dir::open("/proc/fs/jbd2");
  if (!journals) return std::nullopt;
  const auto names = journals->list();
  if (!names) return std::nullopt;
  return std::any_of(names->begin(), names->end(), [&](const std::string& name) {
    return name.starts_with(prefix) && name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
  });
}

std::optional<std::uint64_t> mount_id_of(int dir, const char* name, int flags) {
#ifdef STATX_MNT_ID
  struct statx st {};
  if (::statx(dir, name, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) != 0) return std::nullopt;
  if ((st.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
  return st.stx_mnt_id;
#else
  static_cast<void>(dir), static_cast<void>(name), static_cast<void>(flags);
  return std::nullopt;
#endif
}

}  // namespace

std::optional<std::uint64_t> Dir::mount_id(const std::string& name) const { return mount_id_of(fd(), name.c_str(), 0); }
std::optional<std::uint64_t> Dir::mount_id_self() const { return mount_id_of(fd(), "", AT_EMPTY_PATH); }

base::Result<Filesystem> filesystem_of(const Dir& dir) {
  struct statfs fs {};
  if (make_call(fault::Op::kStat, [&] { return ::fstatfs(dir.fd(), &fs); }) != 0)
    return fail_call(errno, dir.path() + ": fstatfs");
  const FileInfo self = INTRAY_TRY(dir.stat_self());
  Filesystem out;
  out.device = self.device;
  std::optional<Mount> mount;
  if (const auto id = dir.mount_id_self()) mount = find_mount(*id);
  out.name = mount ? mount->type : name_by_magic(static_cast<std::uint64_t>(fs.f_type) & 0xffffffffU);
  out.is_network = std::find(kNetworkNames.begin(), kNetworkNames.end(), out.name) != kNetworkNames.end();
  if (out.name == "ext4" || out.name == "ext3")
    out.has_journal = find_journal(std::to_string(major(self.device)) + ":" + std::to_string(minor(self.device)));
  if (out.name == "ext2") out.has_journal = false;
  return out;
}

}  // namespace intray::sys
