// Purpose:    every setting of an executor and of the site, typed, with its default and unit, in one place.
// Trust:      files are root's; a wrong or unknown key stops the program (exit 78), never a guess.
// Thread use: values.
//
// The TOML key of each member is in its comment; "required" ones have no default. Durations in TOML are strings with a
// unit ("15s", "500ms", "24h", "7d", "10m") or 0; sizes are strings with a unit ("4MiB", "64KiB") or a number of bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/job.h"
#include "model/state.h"

namespace intray::config {

using namespace std::chrono_literals;

// Where the object id of a note comes from.
enum class ObjectIdFrom { kPath, kFrontMatter };

struct ReceiverSettings {
  std::string url;               // receiver.url, required: "https://host[:port]" or "http://…", nothing behind it
  bool allow_plaintext = false;  // receiver.allow_plaintext
  std::string address;           // receiver.address: "192.0.2.7", "::1"; empty: the name of the URL is looked up
  std::string ca_file;           // receiver.ca_file, required for https
  std::string credential_file;   // receiver.credential_file, required; systemd's: /run/credentials/<unit>/<name>
  base::Micros connect_timeout = 5s;    // receiver.connect_timeout
  base::Micros total_timeout = 30s;     // receiver.total_timeout
  std::int64_t low_speed_bytes = 1024;  // receiver.low_speed: bytes a second …
  base::Micros low_speed_window = 10s;  // receiver.low_speed_window: … over this long
  base::Micros settle = 10s;     // receiver.settle: how long a request whose answer was lost may still be working
  base::Micros idle_reuse = 3s;  // receiver.idle_reuse: no request goes out on a connection idle for longer
};

struct RetrySettings {
  int attempts_max = 5;                // retry.max_attempts
  base::Micros first_wait = 1s;        // retry.first_wait; doubles each time, full jitter upward
  base::Micros verify_deadline = 30s;  // verify.deadline
  int breaker_failures = 5;            // breaker.failures
  base::Micros breaker_probe = 5s;     // breaker.probe: between reads that probe an open breaker
};

struct SourceSettings {
  std::string mirror;                 // git.mirror, required: a bare repository
  std::string mirror_owner;           // git.mirror_owner: a user's name or number; "": the executor's own user
  std::vector<std::string> branches;  // git.branches, required: short names
  std::string prefix;                 // git.prefix: folder of the vault inside the repository, "" for its root
  model::ObjectFormat object_format = model::ObjectFormat::kSha1;  // git.object_format: "sha1", "sha256"
  base::Micros max_age = 0s;  // source.max_age, required; 0 only where the mirror is itself the origin
  ObjectIdFrom object_id_from = ObjectIdFrom::kPath;  // object_id.from: "path", "front-matter"
  std::string object_id_key = "id";                   // object_id.key
  std::string state_key = "status";                   // state.key
  std::int64_t content_bytes_max = 4 * 1024 * 1024;   // content.max_bytes
  std::vector<std::string> secret_patterns;  // content.secret_patterns: regular expressions (RE2), searched per line
  bool historical = false;                   // save.historical
};

struct LimitSettings {
  int slots = 1;                                        // slots
  int in_flight = 64;                                   // limits.in_flight
  std::int64_t waiting = 10'000;                        // limits.waiting: admitted, not final
  std::int64_t per_requester = 10'000;                  // limits.per_requester
  std::int64_t per_requester_bytes = 64 * 1024 * 1024;  // limits.per_requester_bytes
  std::int64_t backlog = 1'000'000;                     // limits.backlog
};

struct TimingSettings {
  base::Micros scan_interval = 60s;  // inbox.scan_interval: slow timer behind the events
  base::Micros tmp_age = 36h;        // inbox.tmp_age: older files in tmp/ are removed
  base::Micros lease = 15s;          // lease.time_to_live, at most 5 min
  base::Micros renewal = 5s;         // lease.renewal
  base::Micros grant = 10s;          // lease.grant, at most 30 s
  base::Micros stop = 60s;           // stop.deadline: how long SIGTERM waits for what is in flight
};

// One executor's file: /etc/intray/save.toml.
struct Settings {
  model::JobKind kind = model::JobKind::kSave;
  std::string root = "/var/lib/intray";                 // root; the site's data directory
  std::string tenant;                                   // identity.tenant, required
  std::string agent;                                    // identity.agent, default the kind's word
  std::string site_namespace;                           // namespace, required: "instance/tenant/environment/revision"
  std::string policy_file = "/etc/intray/policy.toml";  // policy.file
  std::vector<std::uint32_t> requester_uids;            // requesters.uids, required; --user-mode: the user's own
  std::string vault_root = "/app/vault";                // vault.root
  std::vector<std::string> extensions = {".md"};        // vault.extensions
  base::Micros job_max_age = 24h * 7;                   // job.max_age
  base::Micros job_deadline = 24h;                      // job.deadline
  int poison_solo_deaths = 2;                           // poison.solo_deaths
  std::string missions_file;                            // missions.file; empty: missions are not checked
  std::string connector;         // connector.program; default: intray-connector beside the executor's own binary
  std::string connector_socket;  // connector.socket: where a service manager starts one; empty: the program is spawned
  bool allow_reduced = false;    // confinement.allow_reduced: start where Landlock is missing or too old
  bool user_mode = false;        // --user-mode, or user_mode = true in the file that `init --user-mode` writes
  ReceiverSettings receiver;
  RetrySettings retry;
  SourceSettings source;
  LimitSettings limits;
  TimingSettings timing;

  model::JobRules job_rules() const;
};

// Parses one executor's TOML. Error: kInvalid, one line: file, line and column, key, what was found, what is allowed;
// an unknown key names the nearest known one. All problems of the file are in `what`, one a line.
base::Result<Settings> parse_settings(const std::string& toml_text, const std::string& file_name, model::JobKind kind);
// Also kNotFound, and kDenied: not readable, or writable by others than its owner. In user mode the list of requesters,
// where the file has none, is the caller's own uid.
base::Result<Settings> load_settings(const std::string& path, model::JobKind kind);

// One line of `intray config check`.
struct EffectiveSetting {
  std::string key;
  std::string value;
  std::string default_value;  // "" where required
  bool from_file = false;
};
std::vector<EffectiveSetting> effective(const Settings& settings, const std::string& toml_text);

// A commented file with every setting; required ones get the given values, or a line that says what to fill in.
struct InitValues {
  std::string root;
  std::string receiver_url;
  std::string credential_file;
  std::string mirror;
  std::vector<std::string> branches;
  std::string tenant;
  std::string site_namespace;
  std::string policy_file;
  std::vector<std::uint32_t> requester_uids;
  bool user_mode = false;
  std::string ca_file;
  // Key to TOML literal, above everything else: {"source.max_age", "0"}. Keys that are no settings are not written.
  std::vector<std::pair<std::string, std::string>> set;
};
std::string commented_settings(model::JobKind kind, const InitValues& values);
// What such a file would say once the settings that are still missing are filled in: those have their examples here.
// kInvalid as parse_settings, about the given values.
base::Result<Settings> settings_of(model::JobKind kind, const InitValues& values);
// The text as a TOML literal: itself where it is one already (`0`, `"x"`, `[1]`), else quoted.
std::string as_literal(const std::string& text);
// The dotted key of every setting, in the order of the file.
std::vector<std::string> setting_names();

// policy.toml: default deny. Which identities may hold a lease, with which scopes, and whether by takeover.
struct PolicyLine {
  std::string tenant;
  std::string agent;
  std::string binding;              // "save/0"
  std::vector<std::string> scopes;  // of: claim, effect:save, effect:delete, observe
  bool takeover = false;
};
struct LeasePolicy {
  std::vector<PolicyLine> lines;
};
base::Result<LeasePolicy> parse_policy(const std::string& toml_text, const std::string& file_name);
base::Result<LeasePolicy> load_policy(const std::string& path);
std::string policy_text(const std::string& tenant, const std::string& agent, model::JobKind kind, int slots);

// intray.toml: where the site's data and its executors' files are.
struct SiteSettings {
  std::string root = "/var/lib/intray";
  std::string save_config = "/etc/intray/save.toml";
  std::string delete_config = "/etc/intray/delete.toml";
};
base::Result<SiteSettings> parse_site(const std::string& toml_text, const std::string& file_name);
base::Result<SiteSettings> load_site(const std::string& path);  // kNotFound: defaults apply
std::string site_text(const SiteSettings& site);                // what `intray init` writes

}  // namespace intray::config
