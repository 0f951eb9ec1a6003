#include "cli/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/json_line.h"
#include "cli/roles.h"
#include "cli/site.h"
#include "config/nearest.h"
#include "config/settings.h"
#include "inbox/layout.h"
#include "sys/dir.h"
#include "sys/process.h"

namespace intray::cli {
namespace {

using base::ErrorCode;
using model::JobKind;

constexpr std::uint32_t kSharedDir = 0755;  // settings hold no secret
constexpr std::uint32_t kSharedFile = 0644;
constexpr std::uint32_t kOwnDir = 0700;
constexpr std::uint32_t kOwnFile = 0600;
constexpr std::uint32_t kSecretDir = 0700;   // credentials: root hands them over, or the executor owns its own
constexpr std::uint32_t kMirrorDir = 02750;  // intray-mirror writes, its group reads
constexpr std::uint32_t kOthersBits = 0077;
constexpr std::uint32_t kSecretFileBits = 0177;
constexpr std::uint32_t kOthersWriteBits = 0022;

struct Failure {
  int code;
  std::string what;
};
template <class T>
using Step = std::expected<T, Failure>;

std::unexpected<Failure> stop(int code, std::string what) { return std::unexpected(Failure{code, std::move(what)}); }

std::string absolute(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  std::string out = std::filesystem::absolute(path, error).lexically_normal().string();
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

Step<inbox::Owners> owners(bool user_mode) {
  if (user_mode) return *site_owners(true);
  if (sys::effective_uid() != 0)
    return stop(kBlocked,
                "a site for several users is made by root; run as root, or with --user-mode for one user's own site");
  std::string missing;
  for (const std::string& line : missing_roles()) missing += (missing.empty() ? "" : "\n") + line;
  if (!missing.empty()) return stop(kBlocked, missing);
  auto found = site_owners(false);
  if (!found) return stop(kBlocked, found.error().what);
  return *found;
}

Step<std::vector<std::uint32_t>> requester_uids(const InitOptions& options) {
  std::vector<std::uint32_t> out;
  for (const std::string& name : options.requesters) {
    std::uint32_t uid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
    const bool number = error == std::errc{} && end == name.data() + name.size();
    const auto found = number ? std::optional(uid) : sys::user_id(name);
    if (!found) return stop(kUsage, "--requester " + base::escape(name) + ": no such user");
    out.push_back(*found);
  }
  if (!out.empty()) return out;
  if (options.user_mode) return std::vector{sys::effective_uid()};
  if (const auto uid = sys::user_id(kRequesterUser)) out.push_back(*uid);
  return out;
}

bool is_loopback(const std::string& url) {
  constexpr auto kPrefixes = std::to_array<std::string_view>({"http://127.", "http://localhost", "http://[::1]"});
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return url.starts_with(prefix); });
}

Step<config::InitValues> values_of(const InitOptions& options, const std::string& root, const std::string& config_dir) {
  config::InitValues v;
  v.root = root;
  v.receiver_url = options.receiver;
  v.credential_file = absolute(options.credential);
  v.ca_file = absolute(options.ca_file);
  v.mirror = absolute(options.mirror);
  v.branches = options.branches;
  v.tenant = options.tenant.empty() ? "main" : options.tenant;
  v.site_namespace = options.site_namespace;
  v.policy_file = config_dir + "/policy.toml";
  v.user_mode = options.user_mode;
  auto uids = requester_uids(options);
  if (!uids) return std::unexpected(std::move(uids).error());
  v.requester_uids = std::move(*uids);
  if (options.user_mode) {
    // One user's own site is for trying out: what a site for several must decide has a value here.
    if (v.site_namespace.empty()) v.site_namespace = "local/" + v.tenant + "/user/1";
    v.set.emplace_back("source.max_age", "0");
    if (is_loopback(options.receiver)) v.set.emplace_back("receiver.allow_plaintext", "true");
  } else {
    v.set.emplace_back("git.mirror_owner", config::as_literal(kMirrorUser));  // make_around gives it the mirror
  }
  const std::vector<std::string> names = config::setting_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& item : options.set) {
    const std::size_t at = item.find('=');
    const std::string key = item.substr(0, at);
    if (at == std::string::npos) return stop(kUsage, "--set " + base::escape(item) + ": give KEY=VALUE");
    if (std::ranges::find(known, key) == known.end()) {
      const auto guess = config::nearest(key, known);
      return stop(kUsage, "--set " + base::escape(key) + ": no such setting; " +
                              (guess ? "did you mean " + std::string(*guess) + "?" : "save.toml(5) lists them all"));
    }
    std::erase_if(v.set, [&](const auto& pair) { return pair.first == key; });
    v.set.emplace_back(key, config::as_literal(item.substr(at + 1)));
  }
  return v;
}

class Maker {
 public:
  Maker(Console& console, bool user_mode) : console_(console), user_mode_(user_mode) {}

  void say(const std::string& path, bool made, const std::string& note = {}) {
    if (console_.json) return print_json(console_, {{"path", path}, {"did", made ? "made" : "kept"}});
    console_.out << (made ? console_.paint(Colour::kGreen, "made") : "kept") << "  " << base::escape(path)
                 << (note.empty() ? "" : "  " + note) << '\n';
  }

  base::Result<sys::Dir> directory(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const sys::Dir parent = INTRAY_TRY(sys::Dir::open(slash == 0 ? "/" : path.substr(0, slash)));
    auto made = parent.make_subdir(path.substr(slash + 1), user_mode_ ? kOwnDir : kSharedDir);
    if (!made && made.error().code != ErrorCode::kExists) return std::unexpected(std::move(made).error());
    if (made) {
      INTRAY_TRY(parent.sync());
      say(path, true);
    }
    return sys::Dir::open(path);
  }

  // Under another name until owner and mode are right, so that nothing half made is kept by the next run. What is there
  // stays as it is: the caller judges it.
  base::Result<void> directory_of(const std::string& path, std::uint32_t uid, std::uint32_t gid, std::uint32_t mode) {
    const std::size_t slash = path.rfind('/');
    const std::string name = path.substr(slash + 1);
    const sys::Dir parent = INTRAY_TRY(sys::Dir::open(slash == 0 ? "/" : path.substr(0, slash)));
    if (parent.stat(name)) {
      say(path, false);
      return {};
    }
    const std::string making = name + ".unfinished";
    if (auto made = parent.make_subdir(making, kOwnDir); !made && made.error().code != ErrorCode::kExists) return made;
    const sys::Dir dir = INTRAY_TRY(parent.open_subdir(making));
    INTRAY_TRY(sys::change_owner(dir.fd(), uid, gid));
    INTRAY_TRY(sys::change_mode(dir.fd(), mode));  // after the owner: chown clears setgid
    INTRAY_TRY(parent.move(making, parent, name));
    INTRAY_TRY(parent.sync());
    say(path, true);
    return {};
  }

  // Whole or not at all: a file with half its settings would be kept by the next run.
  base::Result<void> file(const sys::Dir& dir, const std::string& name, const std::string& text) {
    const std::string path = dir.path() + "/" + name;
    if (dir.stat(name)) {
      say(path, false, "(was there, unchanged)");
      return {};
    }
    const std::string making = name + ".unfinished";
    static_cast<void>(dir.unlink(making));
    const sys::Fd fd = INTRAY_TRY(dir.create(making, user_mode_ ? kOwnFile : kSharedFile));
    INTRAY_TRY(sys::write_all(fd.get(), text));
    INTRAY_TRY(sys::sync_file(fd.get()));
    INTRAY_TRY(dir.move(making, dir, name));
    INTRAY_TRY(dir.sync());
    say(path, true);
    return {};
  }

 private:
  Console& console_;
  bool user_mode_;
};

void say_next(Console& console, const InitOptions& options, const config::Settings& wanted,
              const std::string& save_toml) {
  if (console.json) return;
  const std::string root_option = options.user_mode                  ? " --root " + wanted.root
                                  : wanted.root == "/var/lib/intray" ? ""
                                                                     : " --root " + wanted.root;
  const auto written = config::load_settings(save_toml, JobKind::kSave);
  console.out << "\nNext:\n";
  if (!written) {
    console.out << "  Fill in " << save_toml << ":\n";
    for (std::string_view rest = written.error().what; !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.starts_with(save_toml + ": ")) line.remove_prefix(save_toml.size() + 2);
      console.out << "    " << base::escape(line) << '\n';
    }
    console.out << "  Check it:\n    intray config check " << save_toml << '\n';
  }
  const std::string credential = written ? written->receiver.credential_file : wanted.receiver.credential_file;
  std::error_code error;
  if (!written || !std::filesystem::exists(credential, error))
    console.out << "  Put the receiver's credential, one line, into its file (mode 0400"
                << (options.user_mode ? "" : ", owner intray-save; root where the service manager hands it over")
                << ").\n";
  console.out << "  Start the executor:\n    intray-save --config " << save_toml << '\n'
              << "  Hand over a note:\n    intray submit save" << root_option
              << " --repo DIR --commit HEAD --path NOTE.md --wait\n"
              << "  See what is where:\n    intray ls" << root_option << '\n';
  if (!options.user_mode)
    console.out << "  Prove that nobody can do more than that:\n    intray doctor" << root_option << '\n';
}

// What is wrong with a secret's place that was there before, one line each; nothing is changed about it.
std::vector<std::string> judge_secrets(const std::string& folder, const std::string& credential,
                                       std::uint32_t executor) {
  std::vector<std::string> out;
  const auto dir = sys::stat_path(folder);
  if (!dir)
    out.push_back(dir.error().what);
  else if (dir->type != sys::FileType::kDirectory || dir->uid != 0 || (dir->mode & kOthersBits) != 0)
    out.push_back(fmt::format("{}: must be a directory of root's with mode 0700; has uid {}, mode {:04o}",
                              base::escape(folder), dir->uid, dir->mode));
  if (credential.empty()) return out;
  const auto file = sys::stat_path(credential);
  if (!file) return out;  // not there yet: say_next tells
  if (file->type != sys::FileType::kRegular || (file->uid != 0 && file->uid != executor) ||
      (file->mode & kSecretFileBits) != 0)
    out.push_back(fmt::format("{}: must be a file of root's or {}'s with mode 0400; has uid {}, mode {:04o}",
                              base::escape(credential), kSaveUser, file->uid, file->mode));
  return out;
}

// The credentials' folder, and the mirror's where there is none: made with their owners, or judged as they are.
Step<void> make_around(Console& console, Maker& maker, const std::string& config_dir, const config::InitValues& values,
                       const inbox::Owners& who) {
  const auto failed = [](const base::Error& error) {
    return stop(error.code == ErrorCode::kDenied ? kBlocked : exit_code_of(error), error.what);
  };
  const std::string secrets = config_dir + "/credentials";
  if (auto made = maker.directory_of(secrets, 0, 0, kSecretDir); !made) return failed(made.error());
  const auto mirror_uid = sys::user_id(kMirrorUser);
  const auto reader_gid = sys::group_id(kMirrorGroup);
  if (!values.mirror.empty() && mirror_uid && reader_gid) {
    const std::string above = values.mirror.substr(0, std::max<std::size_t>(1, values.mirror.rfind('/')));
    if (above != "/" && !sys::stat_path(above))
      if (auto made = maker.directory_of(above, 0, 0, kSharedDir); !made) return failed(made.error());
    if (auto made = maker.directory_of(values.mirror, *mirror_uid, *reader_gid, kMirrorDir); !made)
      return failed(made.error());
    const auto found = sys::stat_path(values.mirror);
    if (!found) return failed(found.error());
    const sys::FileInfo& mirror = *found;
    if (mirror.uid != *mirror_uid)
      complain(console, fmt::format("warning: {}: belongs to uid {}, should be {}'s (git.mirror_owner)",
                                    base::escape(values.mirror), mirror.uid, kMirrorUser));
    if ((mirror.mode & kOthersWriteBits) != 0)
      complain(console, fmt::format("warning: {}: others than its owner can write to it (mode {:04o})",
                                    base::escape(values.mirror), mirror.mode));
  }
  std::string wrong;
  for (const std::string& problem : judge_secrets(secrets, values.credential_file, who.executor_uid))
    wrong += (wrong.empty() ? "" : "\n") + problem;
  if (!wrong.empty()) return stop(kBlocked, wrong);
  return {};
}

base::Result<void> write_settings(Maker& maker, const std::string& config_dir, const std::string& root,
                                  const config::InitValues& values, const config::Settings& wanted) {
  const sys::Dir dir = INTRAY_TRY(maker.directory(config_dir));
  config::SiteSettings site;
  site.root = root;
  site.save_config = config_dir + "/save.toml";
  site.delete_config = config_dir + "/delete.toml";
  INTRAY_TRY(maker.file(dir, "intray.toml", config::site_text(site)));
  INTRAY_TRY(maker.file(dir, "policy.toml",
                        config::policy_text(wanted.tenant, wanted.agent, JobKind::kSave, wanted.limits.slots)));
  return maker.file(dir, "save.toml", config::commented_settings(JobKind::kSave, values));
}

Step<void> make_site(Console& console, const InitOptions& options) {
  if (options.user_mode && options.root.empty())
    return stop(kUsage, "--user-mode needs --root DIR: everything goes there");
  const std::string root = options.root.empty() ? config::SiteSettings{}.root : absolute(options.root);
  const std::string config_dir = !options.config_dir.empty() ? absolute(options.config_dir)
                                 : options.user_mode         ? root + "/etc"
                                                             : std::string(kSystemConfigDir);
  const auto who = owners(options.user_mode);
  if (!who) return std::unexpected(who.error());
  const auto values = values_of(options, root, config_dir);
  if (!values) return std::unexpected(values.error());
  const auto wanted = config::settings_of(JobKind::kSave, *values);
  if (!wanted) return stop(kUsage, wanted.error().what);

  // A site that is there already keeps its number of slots.
  const std::string save_toml = config_dir + "/save.toml";
  const auto present = config::load_settings(save_toml, JobKind::kSave);
  const int slots = present ? present->limits.slots : wanted->limits.slots;
  const std::string inbox_dir = root + "/save";
  std::error_code error;
  const bool was_there = std::filesystem::exists(inbox_dir, error);
  if (auto made = inbox::make(root, JobKind::kSave, *who, slots); !made)
    return stop(made.error().code == ErrorCode::kDenied ? kBlocked : exit_code_of(made.error()), made.error().what);
  Maker maker(console, options.user_mode);
  maker.say(inbox_dir, !was_there, was_there ? "(complete)" : "");
  if (auto written = write_settings(maker, config_dir, root, *values, *wanted); !written)
    return stop(written.error().code == ErrorCode::kDenied ? kBlocked : exit_code_of(written.error()),
                written.error().what);
  if (!options.user_mode)
    if (auto made = make_around(console, maker, config_dir, *values, *who); !made) return made;
  for (const std::string& warning : inbox::check(root, JobKind::kSave, *who, slots).warnings)
    complain(console, "warning: " + warning);
  if (options.user_mode && sys::effective_uid() == 0)
    complain(
        console,
        "warning: this site is root's own, and executors refuse to run as root; make it as the user who will run it");
  say_next(console, options, *wanted, save_toml);
  return {};
}

}  // namespace

int run_init(Console& console, const InitOptions& options) {
  const auto made = make_site(console, options);
  if (made) return kDone;
  complain(console, base::Error{.what = made.error().what});
  return made.error().code;
}

}  // namespace intray::cli
