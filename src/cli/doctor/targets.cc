#include "cli/doctor/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/escape.h"
#include "limits.h"
#include "sys/dir.h"
#include "sys/identity.h"

namespace intray::cli::doctor {
namespace {

using model::JobKind;

constexpr auto kContainerSockets =
    std::to_array({"/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"});

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

std::vector<std::string> names_in(const std::string& path) {
  const auto dir = sys::Dir::open(path);
  auto names = dir ? dir->list() : std::unexpected(dir.error());
  return names ? std::move(*names) : std::vector<std::string>{};
}

std::string parent_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

// The folder, and the newest files in it: names of receipts sort by day, a ledger has three.
std::vector<std::string> folder_and_files(const std::string& folder) {
  constexpr std::size_t kFiles = 16;
  std::vector<std::string> out{folder};
  const auto names = names_in(folder);
  for (std::size_t i = names.size() > kFiles ? names.size() - kFiles : 0; i < names.size(); ++i)
    out.push_back(folder + "/" + names[i]);
  return out;
}

class Places {
 public:
  explicit Places(Scene& scene) : scene_(scene) {}

  void inbox(JobKind kind, Target drop, Target held, Target receipts, Target ledger) {
    const std::string base = scene_.site.root + "/" + std::string(model::to_word(kind));
    set(drop, {base + "/tmp", base + "/new"});
    std::vector<std::string> places;
    for (const char* const name : {"cur", "done", "failed", "rejected", "unknown"}) places.push_back(base + "/" + name);
    const int slots = kind == JobKind::kSave && scene_.save ? scene_.save->limits.slots : 1;
    for (int slot = 0; slot < slots && places.size() < limits::kProbePathsMax; ++slot)
      places.push_back(fmt::format("{}/lease/{}", base, slot));
    set(held, places);
    set(receipts, folder_and_files(base + "/receipts"));
    set(ledger, folder_and_files(base + "/ledger"));
    at(Target::kTree).paths.push_back(base);
    at(Target::kTree).paths.push_back(base + "/lease");
  }

  void credential(Target target, const std::optional<std::string>& file) {
    TargetSet& out = at(target);
    if (!file)
      out.missing = Missing{Status::kSkipped, "where it lies is not known: the settings can't be read"};
    else if (!is_there(*file))
      out.missing = Missing{Status::kSkipped, base::escape(*file) + " is not there, or not to be seen"};
    else
      out = {.paths = {*file}, .write_paths = {parent_of(*file)}, .missing = std::nullopt, .none = {}};
  }

  void mirror() {
    TargetSet& out = at(Target::kMirror);
    if (!scene_.save) {
      out.missing = Missing{Status::kSkipped, "where it lies is not known: the settings can't be read"};
      return;
    }
    const std::string& path = scene_.save->source.mirror;
    if (!is_there(path)) {
      out.missing = Missing{Status::kSkipped, base::escape(path) + " is not there, or not to be seen"};
      return;
    }
    out.paths.push_back(path);
    for (const char* const name : {"HEAD", "objects", "refs", "config"})
      if (is_there(path + "/" + name)) out.paths.push_back(path + "/" + name);
  }

  void settings() {
    std::vector<std::string> paths{scene_.site.config_dir};
    std::vector<std::string> files{scene_.site.config_dir + "/intray.toml", scene_.site.save_config,
                                   scene_.site.delete_config};
    if (scene_.save) {
      files.push_back(scene_.save->policy_file);
      files.push_back(scene_.save->missions_file);
    }
    for (const std::string& file : files)
      if (!file.empty() && is_there(file)) paths.push_back(file);
    set(Target::kSettings, paths);
  }

  void programs() {
    std::vector<std::string> paths;
    for (const std::string& program : {scene_.save_program, scene_.connector_program}) {
      if (program.empty() || !is_there(program)) continue;
      paths.push_back(program);
      paths.push_back(parent_of(program));
    }
    set(Target::kPrograms, paths);
    if (paths.empty()) at(Target::kPrograms).missing = Missing{Status::kSkipped, "intray-save was not found"};
  }

  void containers() {
    for (const char* const path : kContainerSockets)
      if (is_there(path)) at(Target::kDocker).paths.emplace_back(path);
    at(Target::kDocker).none = "there is no such socket here";
  }

  // Private keys by their usual names, and sockets of agents. Somebody's own are left out where they are tried.
  void ssh() {
    TargetSet& out = at(Target::kSsh);
    out.none = "there is none here";
    const auto add = [&](const std::string& path) {
      if (out.paths.size() < limits::kProbePathsMax && is_there(path)) out.paths.push_back(path);
    };
    for (const std::string& name : names_in("/etc/ssh"))
      if (name.starts_with("ssh_host_") && name.ends_with("_key")) add("/etc/ssh/" + name);
    for (const sys::Account& account : sys::all_accounts(limits::kAccountsMax)) {
      const std::string folder = account.home + "/.ssh";
      for (const std::string& name : names_in(folder))
        if (name.starts_with("id_") && !name.ends_with(".pub")) add(fmt::format("{}/{}", folder, name));
      const std::string runtime = "/run/user/" + std::to_string(account.uid);
      for (const char* const socket : {"/keyring/ssh", "/openssh_agent", "/ssh-agent.socket", "/gnupg/S.gpg-agent.ssh"})
        add(runtime + socket);
    }
    for (const std::string& name : names_in("/tmp"))
      if (name.starts_with("ssh-"))
        for (const std::string& socket : names_in("/tmp/" + name)) add(fmt::format("/tmp/{}/{}", name, socket));
  }

  void set(Target target, std::vector<std::string> paths) { at(target).paths = std::move(paths); }
  TargetSet& at(Target target) { return scene_.targets[static_cast<std::size_t>(target)]; }

 private:
  Scene& scene_;
};

}  // namespace

void set_targets(Scene& scene) {
  Places places(scene);
  places.set(Target::kTree, {scene.site.root});
  places.inbox(JobKind::kSave, Target::kSaveDrop, Target::kSaveHeld, Target::kSaveReceipts, Target::kSaveLedger);
  const int slots = scene.save ? scene.save->limits.slots : 1;
  for (int slot = 0; slot < slots && slot < static_cast<int>(limits::kProbePathsMax); ++slot)
    places.at(Target::kSaveLocks).paths.push_back(fmt::format("{}/save/lease/{}.lock", scene.site.root, slot));
  places.credential(Target::kSaveCredential,
                    scene.save ? std::optional(scene.save->receiver.credential_file) : std::nullopt);

  const Missing no_delete{Status::kNotYet, "the delete executor is not installed here"};
  if (scene.delete_installed) {
    places.inbox(JobKind::kDelete, Target::kDeleteDrop, Target::kDeleteHeld, Target::kDeleteReceipts,
                 Target::kDeleteLedger);
    const auto settings = settings_of(scene.site, JobKind::kDelete);
    places.credential(Target::kDeleteCredential,
                      settings ? std::optional(settings->receiver.credential_file) : std::nullopt);
    const std::string keys = scene.site.config_dir + "/keys";
    if (is_there(keys))
      places.set(Target::kPublicKeys, folder_and_files(keys));
    else
      places.at(Target::kPublicKeys).missing = Missing{Status::kNotYet, keys + " is not there"};
  } else {
    for (const Target t : {Target::kDeleteCredential, Target::kPublicKeys, Target::kDeleteDrop, Target::kDeleteHeld,
                           Target::kDeleteReceipts, Target::kDeleteLedger})
      places.at(t).missing = no_delete;
  }
  places.at(Target::kMarkers).missing = Missing{Status::kNotYet, "there is no marker store here"};
  places.mirror();
  places.settings();
  places.programs();
  places.containers();
  places.ssh();
}

}  // namespace intray::cli::doctor
