#include "vault-receiver/vault_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "vault-receiver/bounds.h"
#include "vault-receiver/vault_path.h"

namespace intray::vault_receiver {
namespace {

using base::ErrorCode;
using base::Result;

// -1 and errno as open(2). EAGAIN means that a rename raced with the lookup.
int open_beneath(int dir, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<decltype(how.flags)>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  while (true) {
    const long fd = ::syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
}

std::unexpected<base::Error> path_error(int error, std::string what) {
  if (error == ELOOP || error == EXDEV) return base::fail(ErrorCode::kDenied, std::move(what), error);
  if (error == ENOTDIR) return base::fail(ErrorCode::kNotFound, std::move(what), error);
  return base::fail_errno(error, std::move(what));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool read_all(int fd, std::size_t bytes_hint, std::string& out) {
  out.resize(bytes_hint + 1);
  std::size_t length = 0;
  while (true) {
    const ssize_t n = ::read(fd, out.data() + length, out.size() - length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;
    length += static_cast<std::size_t>(n);
    if (length > kNoteBytesMax) return errno = EFBIG, false;
    if (length == out.size()) out.resize(out.size() * 2);
  }
  out.resize(length);
  return true;
}

std::string_view leaf_of(std::string_view relative) {
  const auto slash = relative.rfind('/');
  return slash == std::string_view::npos ? relative : relative.substr(slash + 1);
}

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using DirStream = std::unique_ptr<DIR, CloseDir>;

std::vector<std::string> names_in(int dir) {
  std::vector<std::string> names;
  Fd copy(open_beneath(dir, ".", O_RDONLY | O_DIRECTORY));
  if (!copy) return names;
  DirStream stream(::fdopendir(copy.get()));
  if (!stream) return names;
  copy.release();
  while (const dirent* entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string title_of(std::string_view relative, std::string_view content) {
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t end = std::min(content.find('\n', at), content.size());
    std::string_view line = content.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("# ")) return std::string(line.substr(2));
    at = end + 1;
  }
  const std::string_view leaf = leaf_of(relative);
  const auto dot = leaf.rfind('.');
  return std::string(dot == 0 ? leaf : leaf.substr(0, dot));
}

struct Search {
  std::string needle;
  std::size_t files_left = kSearchFilesMax;
  std::vector<SearchHit> hits{};

  bool spent() const { return files_left == 0 || hits.size() >= kSearchHitsMax; }

  void walk(int dir, const std::string& prefix, int depth) {
    for (const std::string& name : names_in(dir)) {
      if (spent()) return;
      if (name.starts_with('.')) continue;
      const Fd entry(open_beneath(dir, name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
      struct stat status {};
      if (!entry || ::fstat(entry.get(), &status) != 0) continue;
      const std::string relative = prefix + name;
      if (S_ISDIR(status.st_mode) && depth < kSearchDepthMax) {
        walk(entry.get(), relative + '/', depth + 1);
      } else if (S_ISREG(status.st_mode)) {
        look_at(entry.get(), static_cast<std::size_t>(status.st_size), relative);
      }
    }
  }

  void look_at(int fd, std::size_t bytes, const std::string& relative) {
    --files_left;
    std::string content;
    if (bytes > kNoteBytesMax || !read_all(fd, bytes, content)) return;
    if (!ascii_lower(relative).contains(needle) && !ascii_lower(content).contains(needle)) {
      return;
    }
    hits.push_back(SearchHit{relative, title_of(relative, content)});
  }
};

}  // namespace

Result<VaultStore> VaultStore::open(const std::string& dir, bool sync) {
  Fd root(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return base::fail_errno(errno, "open " + dir);
  const std::string tmp_name(kTmpFolder);
  if (::mkdirat(root.get(), tmp_name.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::fail_errno(errno, "make " + dir + '/' + tmp_name);
  }
  Fd tmp(open_beneath(root.get(), tmp_name.c_str(), O_RDONLY | O_DIRECTORY));
  if (!tmp) return path_error(errno, "open " + dir + '/' + tmp_name);
  for (const std::string& name : names_in(tmp.get())) ::unlinkat(tmp.get(), name.c_str(), 0);
  return VaultStore(std::move(root), std::move(tmp), sync);
}

Result<Fd> VaultStore::open_parent(std::string_view relative, bool make) const {
  const auto slash = relative.rfind('/');
  const std::string parent(slash == std::string_view::npos ? std::string_view(".") : relative.substr(0, slash));
  constexpr int kFlags = O_RDONLY | O_DIRECTORY;
  Fd found(open_beneath(root_.get(), parent.c_str(), kFlags));
  if (found) return found;
  if (errno != ENOENT || !make) return path_error(errno, parent);

  // One folder after the other, each looked up in the one before: what is swapped meanwhile can't lead outside.
  Fd at(open_beneath(root_.get(), ".", kFlags));
  if (!at) return path_error(errno, ".");
  for (std::string_view rest = parent; !rest.empty();) {
    const auto end = rest.find('/');
    const std::string segment(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (::mkdirat(at.get(), segment.c_str(), 0755) == 0) {
      if (sync_ && ::fsync(at.get()) != 0) return base::fail_errno(errno, "sync folder of " + segment);
    } else if (errno != EEXIST) {
      return path_error(errno, "make folder " + segment);
    }
    Fd next(open_beneath(at.get(), segment.c_str(), kFlags));
    if (!next) return path_error(errno, "open folder " + segment);
    at = std::move(next);
  }
  return at;
}

Result<void> VaultStore::save(const std::string& relative, std::string_view content) {
  const Fd parent = INTRAY_TRY(open_parent(relative, true));
  const std::string leaf(leaf_of(relative));
  const std::string aside = std::to_string(++next_tmp_);
  Fd file(::openat(tmp_.get(), aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) return base::fail_errno(errno, "create");
  const auto give_up = [&](const char* step) {
    const int error = errno;
    ::unlinkat(tmp_.get(), aside.c_str(), 0);
    return base::fail_errno(error, step);
  };
  if (!write_all(file.get(), content)) return give_up("write");
  if (sync_ && ::fsync(file.get()) != 0) return give_up("sync");
  if (::renameat(tmp_.get(), aside.c_str(), parent.get(), leaf.c_str()) != 0) return give_up("rename");
  if (sync_ && ::fsync(parent.get()) != 0) return base::fail_errno(errno, "sync folder");
  return {};
}

Result<void> VaultStore::remove(const std::string& relative) {
  const Fd parent = INTRAY_TRY(open_parent(relative, false));
  const std::string leaf(leaf_of(relative));
  if (::unlinkat(parent.get(), leaf.c_str(), 0) != 0) return base::fail_errno(errno, "unlink");
  if (sync_ && ::fsync(parent.get()) != 0) return base::fail_errno(errno, "sync folder");
  return {};
}

Result<std::string> VaultStore::read(const std::string& relative) const {
  const Fd file(open_beneath(root_.get(), relative.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
  if (!file) return path_error(errno, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return base::fail_errno(errno, "stat");
  if (!S_ISREG(status.st_mode)) return base::fail(ErrorCode::kNotFound, "not a regular file");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes > kNoteBytesMax) return base::fail(ErrorCode::kInvalid, "note too large");
  std::string content;
  if (!read_all(file.get(), bytes, content)) return base::fail_errno(errno, "read");
  return content;
}

std::vector<SearchHit> VaultStore::search(std::string_view query) const {
  if (query.empty()) return {};
  Search search{ascii_lower(query)};
  search.walk(root_.get(), "", 0);
  return std::move(search.hits);
}

}  // namespace intray::vault_receiver
