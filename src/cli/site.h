// Purpose:    which site a command is about: its data directory, its settings files, what they say.
// Trust:      settings are the admin's.
// Thread use: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/settings.h"
#include "ledger/reader.h"
#include "model/state.h"

namespace intray::cli {

inline constexpr const char* kSystemConfigDir = "/etc/intray";

struct Site {
  std::string root;        // data directory, absolute
  std::string config_dir;  // where settings were looked for
  std::string save_config;
  std::string delete_config;

  const std::string& config_of(model::JobKind kind) const {
    return kind == model::JobKind::kSave ? save_config : delete_config;
  }
};

// --root DIR: DIR/etc/intray.toml where there is one (a user's own site), else the system's settings with this root.
// Without: /etc/intray/intray.toml, else /var/lib/intray. An error: that file is there and wrong.
base::Result<Site> find_site(const std::string& root_option);

// The settings of one executor. kNotFound: there is no such file.
base::Result<config::Settings> settings_of(const Site& site, model::JobKind kind);

// Whether the executor takes job files of this process's user.
bool may_request(const config::Settings& settings);

// Kinds that have an inbox at this site, of the asked one or of all. None: an error that says what to do.
base::Result<std::vector<model::JobKind>> kinds_of(const Site& site, const std::optional<model::JobKind>& asked);

// kNotFound: no ledger yet, the executor never ran. Errors say who may read it.
base::Result<std::unique_ptr<ledger::Reader>> open_reader(const Site& site, model::JobKind kind,
                                                          const base::Clock& clock);

}  // namespace intray::cli
