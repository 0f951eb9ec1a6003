#include "cli/site.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "inbox/layout.h"
#include "sys/process.h"

namespace intray::cli {
namespace {

using base::ErrorCode;
using model::JobKind;

Site from_settings(const config::SiteSettings& settings, std::string config_dir) {
  return {.root = settings.root,
          .config_dir = std::move(config_dir),
          .save_config = settings.save_config,
          .delete_config = settings.delete_config};
}

}  // namespace

base::Result<Site> find_site(const std::string& root_option) {
  std::string root = root_option;
  if (!root.empty()) {
    std::error_code error;
    root = std::filesystem::absolute(root, error).lexically_normal().string();
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    const std::string own_dir = root + "/etc";
    auto own = config::load_site(own_dir + "/intray.toml");
    if (own) {
      own->root = root;  // the directory may have been moved since
      return from_settings(*own, own_dir);
    }
    if (own.error().code != ErrorCode::kNotFound) return std::unexpected(std::move(own).error());
  }
  auto system = config::load_site(std::string(kSystemConfigDir) + "/intray.toml");
  if (!system && system.error().code != ErrorCode::kNotFound) return std::unexpected(std::move(system).error());
  Site site = from_settings(system.value_or(config::SiteSettings{}), kSystemConfigDir);
  if (!root.empty()) site.root = root;
  return site;
}

base::Result<config::Settings> settings_of(const Site& site, JobKind kind) {
  return config::load_settings(site.config_of(kind), kind);
}

bool may_request(const config::Settings& settings) {
  return std::ranges::find(settings.requester_uids, sys::effective_uid()) != settings.requester_uids.end();
}

base::Result<std::vector<JobKind>> kinds_of(const Site& site, const std::optional<JobKind>& asked) {
  std::vector<JobKind> out;
  for (const JobKind kind : std::to_array({JobKind::kSave, JobKind::kDelete})) {
    std::error_code error;
    const bool there = std::filesystem::is_directory(site.root + "/" + std::string(model::to_word(kind)), error);
    if (there && (!asked || *asked == kind)) out.push_back(kind);
  }
  if (!out.empty()) return out;
  const std::string what = asked ? "no " + std::string(model::to_word(*asked)) + " inbox" : "no inbox";
  return base::fail(ErrorCode::kNotFound,
                    site.root + ": " + what + " there; 'intray init' makes one, --root names another site");
}

base::Result<std::unique_ptr<ledger::Reader>> open_reader(const Site& site, JobKind kind, const base::Clock& clock) {
  const std::string path = inbox::ledger_path(site.root, kind);
  auto reader = ledger::open_sqlite_reader(path, clock);
  if (reader) return reader;
  base::Error error = std::move(reader).error();
  if (error.code == ErrorCode::kDenied) error.what += "; members of the group intray-adm may read it";
  return std::unexpected(std::move(error));
}

}  // namespace intray::cli
