#include "config/settings_keys.h"

#include "config/key_builders.h"
#include "config/text_rules.h"
#include "limits.h"

namespace intray::config {
namespace {

// Leads from the settings to one member, const or not. Undefined again below.
#define INTRAY_FIELD(member) ([](auto& s) -> auto& { return s.member; })

constexpr auto kAbsoluteOrNone = [](std::string_view text) { return text.empty() || is_absolute_path(text); };
constexpr auto kVaultRoot = [](std::string_view text) { return is_absolute_path(text) && text != "/"; };
constexpr const char* kPathRule = "an absolute path";
constexpr const char* kPathOrNoneRule = "\"\" or an absolute path";

using Table = std::vector<Key<Settings>>;

void add(Table& out, Table more) { std::ranges::move(more, std::back_inserter(out)); }

Key<Settings> requester_uids() {
  constexpr std::int64_t kUidMax = 4'294'967'294;  // the next one means "none" to the kernel
  constexpr std::size_t kUidsMax = 1'000;
  const auto set = [](Settings& settings, const Value& value) {
    if (value.kind != Value::Kind::kArray || value.items.empty() || value.items.size() > kUidsMax) return false;
    std::vector<std::uint32_t> uids;
    for (const Value& item : value.items) {
      if (item.kind != Value::Kind::kInteger || item.number < 0 || item.number > kUidMax) return false;
      uids.push_back(static_cast<std::uint32_t>(item.number));
    }
    settings.requester_uids = std::move(uids);
    return true;
  };
  const auto print = [](const Settings& settings) {
    std::string out = "[";
    for (const std::uint32_t uid : settings.requester_uids) out += (out.size() > 1 ? ", " : "") + std::to_string(uid);
    return out + "]";
  };
  return {"requesters.uids",
          "a list of user ids, like [1001]",
          "Users whose job files are taken; files of anybody else are refused. In user mode the default is the user "
          "itself.",
          true,
          "[1001]",
          set,
          print};
}

Table identity_keys() {
  using S = Settings;
  return {
      text_key<S>("root", INTRAY_FIELD(root), is_absolute_path, kPathRule, "The site's data directory."),
      required(text_key<S>("namespace", INTRAY_FIELD(site_namespace), is_namespace,
                           "four names between slashes, each of letters, digits, '.', '_' and '-'",
                           "Where effects belong: instance/tenant/environment/revision. It is part of every effect's "
                           "identity, so that two sites never take each other's work for their own."),
               "\"vault/acme/production/1\""),
      number_key<S>("slots", INTRAY_FIELD(limits.slots), 1, 64,
                    "How many worker processes may share this inbox. 'intray init' makes their directories."),
      flag_key<S>("user_mode", INTRAY_FIELD(user_mode),
                  "Everything belongs to one unprivileged user: for trying out and for tests."),
      required(
          text_key<S>("identity.tenant", INTRAY_FIELD(tenant), is_name, "a name of letters, digits, '.', '_' and '-'",
                      "The tenant under which the executor holds its leases; policy.toml names it too."),
          "\"acme\""),
      text_key<S>("identity.agent", INTRAY_FIELD(agent), is_name, "a name of letters, digits, '.', '_' and '-'",
                  "The executor's name in leases; policy.toml names it too."),
      text_key<S>("policy.file", INTRAY_FIELD(policy_file), is_absolute_path, kPathRule,
                  "The lease policy: who may hold a lease. With none, every lease is refused."),
      requester_uids(),
  };
}

Table receiver_keys() {
  using S = Settings;
  return {
      required(
          text_key<S>(
              "receiver.url", INTRAY_FIELD(receiver.url), is_origin_url,
              "https://host or https://host:port with nothing behind it; http:// only with receiver.allow_plaintext",
              "The one receiver that jobs can reach."),
          "\"https://vault.example.org\""),
      text_key<S>(
          "receiver.address", INTRAY_FIELD(receiver.address), is_address_or_none,
          "an IPv4 or IPv6 address in numbers, or \"\"",
          "Where the receiver is, for an executor that can't look names up: in a network namespace of its own it "
          "can't. \"\": the host of receiver.url is looked up once, at start."),
      flag_key<S>("receiver.allow_plaintext", INTRAY_FIELD(receiver.allow_plaintext),
                  "Lets receiver.url be http://. The credential is then readable on the wire."),
      text_key<S>("receiver.ca_file", INTRAY_FIELD(receiver.ca_file), kAbsoluteOrNone, kPathOrNoneRule,
                  "Certificates that may sign for the receiver, in PEM. Required for https."),
      required(
          text_key<S>(
              "receiver.credential_file", INTRAY_FIELD(receiver.credential_file), is_absolute_path, kPathRule,
              "The file with the bearer credential, mode 0400, owned by the executor's user. Read once, at start."),
          "\"/etc/intray/save.credential\""),
      duration_key<S>("receiver.connect_timeout", INTRAY_FIELD(receiver.connect_timeout), 100ms, 60s,
                      "How long making a connection may take."),
      duration_key<S>("receiver.total_timeout", INTRAY_FIELD(receiver.total_timeout), 500ms, 10min,
                      "How long one whole request may take."),
      size_key<S>("receiver.low_speed", INTRAY_FIELD(receiver.low_speed_bytes), 1, 1LL << 30U,
                  "Bytes a second; an exchange that stays slower for receiver.low_speed_window is given up."),
      duration_key<S>("receiver.low_speed_window", INTRAY_FIELD(receiver.low_speed_window), 1s, 5min,
                      "How long an exchange may stay below receiver.low_speed."),
      duration_key<S>(
          "receiver.settle", INTRAY_FIELD(receiver.settle), 0s, 10min,
          "How long a request whose answer was lost may still be working at the receiver. Until then, finding "
          "the old content there proves nothing."),
      duration_key<S>("receiver.idle_reuse", INTRAY_FIELD(receiver.idle_reuse), 0s, 60s,
                      "No request goes out on a connection that was idle for longer. Keep it below the receiver's own "
                      "keep-alive limit."),
  };
}

Table retry_keys() {
  using S = Settings;
  return {
      number_key<S>("retry.max_attempts", INTRAY_FIELD(retry.attempts_max), 1, 100,
                    "Requests a job may cause before it ends."),
      duration_key<S>("retry.first_wait", INTRAY_FIELD(retry.first_wait), 10ms, 1h,
                      "Wait before the second attempt; it doubles each time, with random extra."),
      duration_key<S>("verify.deadline", INTRAY_FIELD(retry.verify_deadline), 100ms, 10min,
                      "How long reading back may be tried before its answer counts as unavailable."),
      number_key<S>("breaker.failures", INTRAY_FIELD(retry.breaker_failures), 1, 1'000,
                    "Failures to reach the receiver, in a row, after which no job is claimed until a probe succeeds."),
      duration_key<S>("breaker.probe", INTRAY_FIELD(retry.breaker_probe), 10ms, 1h,
                      "Time between the reads that find out whether the receiver is back."),
  };
}

Key<Settings> max_age() {
  Key<Settings> key =
      duration_key<Settings>("source.max_age", INTRAY_FIELD(source.max_age), 1s, std::chrono::hours{24 * 365},
                             "How old the mirror's last fetch may be; with an older one, jobs wait. 0 says that the "
                             "mirror is itself the origin "
                             "and never stale.");
  key.allowed = "a duration, \"1s\" to \"365d\"; or the bare number 0 where the mirror is itself the origin";
  // "0s" may be a slip; the bare 0 is the one way to say it.
  key.set = [inner = key.set](Settings& settings, const Value& value) {
    if (value.kind != Value::Kind::kInteger || value.number != 0) return inner(settings, value);
    settings.source.max_age = 0s;
    return true;
  };
  return required(std::move(key), "\"15m\"");
}

Table source_keys() {
  using S = Settings;
  constexpr std::int64_t kMiB = 1LL << 20U;
  return {
      required(text_key<S>("git.mirror", INTRAY_FIELD(source.mirror), is_absolute_path, kPathRule,
                           "The bare git repository that says what is to be saved."),
               "\"/var/lib/intray-mirror/vault.git\""),
      text_key<S>(
          "git.mirror_owner", INTRAY_FIELD(source.mirror_owner), is_user_or_none,
          "\"\", a user's name, or a user id in quotes",
          "The user who keeps the mirror, where that is neither the executor's own user nor root: nobody but "
          "that user and root may then own it or be able to write to it. \"\": the executor's own user or root."),
      required(texts_key<S>("git.branches", INTRAY_FIELD(source.branches), is_branch, 1, 64,
                            "a list of branch names, like [\"main\"]",
                            "Branches with authority: a commit counts only if one of them holds it."),
               "[\"main\"]"),
      text_key<S>("git.prefix", INTRAY_FIELD(source.prefix), is_relative_folder,
                  "\"\" or a folder without a leading or trailing slash",
                  "The vault's folder inside the repository; \"\" is its root."),
      word_key<S, model::ObjectFormat>("git.object_format", INTRAY_FIELD(source.object_format),
                                       {{"sha1", model::ObjectFormat::kSha1}, {"sha256", model::ObjectFormat::kSha256}},
                                       "The repository's hash."),
      max_age(),
      text_key<S>("vault.root", INTRAY_FIELD(vault_root), kVaultRoot, "an absolute path without a trailing slash",
                  "The vault's folder at the receiver: every path in a job begins with it."),
      texts_key<S>("vault.extensions", INTRAY_FIELD(extensions), is_extension, 1, 16,
                   "a list of endings, like [\".md\"]", "A note's path must end in one of them."),
      word_key<S, ObjectIdFrom>("object_id.from", INTRAY_FIELD(source.object_id_from),
                                {{"path", ObjectIdFrom::kPath}, {"front-matter", ObjectIdFrom::kFrontMatter}},
                                "Where a note's object id comes from: a hash of its path, or its front matter."),
      text_key<S>("object_id.key", INTRAY_FIELD(source.object_id_key), is_front_matter_key, "a front-matter key",
                  "The front-matter key that holds the object id, with object_id.from = \"front-matter\"."),
      text_key<S>("state.key", INTRAY_FIELD(source.state_key), is_front_matter_key, "a front-matter key",
                  "The front-matter key that holds a note's state."),
      size_key<S>("content.max_bytes", INTRAY_FIELD(source.content_bytes_max), 1, 64 * kMiB,
                  "The largest note that is saved."),
      texts_key<S>(
          "content.secret_patterns", INTRAY_FIELD(source.secret_patterns), is_pattern, 0, limits::kSecretPatternsMax,
          "a list of regular expressions",
          "A note with a line that matches one of them is refused: regular expressions as RE2 takes them, without "
          "look-around and back-references. Private-key blocks are refused always."),
      flag_key<S>(
          "save.historical", INTRAY_FIELD(source.historical),
          "Accepts older versions of a note too, unless they are older than what was last saved. For sites whose "
          "planner works commit by commit."),
  };
}

Table limit_keys() {
  using S = Settings;
  return {
      duration_key<S>("job.max_age", INTRAY_FIELD(job_max_age), 1s, std::chrono::hours{24 * 365},
                      "A job created longer ago is refused when it arrives."),
      duration_key<S>("job.deadline", INTRAY_FIELD(job_deadline), 1s, std::chrono::hours{24 * 365},
                      "A job that waited this long since it was admitted ends."),
      number_key<S>("poison.solo_deaths", INTRAY_FIELD(poison_solo_deaths), 1, 100,
                    "How many worker processes a job may bring down, running alone, before it is set aside."),
      text_key<S>("missions.file", INTRAY_FIELD(missions_file), kAbsoluteOrNone, kPathOrNoneRule,
                  "Active missions, one id a line; jobs of others are refused. \"\": missions are not checked."),
      text_key<S>(
          "connector.program", INTRAY_FIELD(connector), kAbsoluteOrNone, kPathOrNoneRule,
          "The program that connects to the receiver. \"\": intray-connector beside the executor's own program."),
      text_key<S>("connector.socket", INTRAY_FIELD(connector_socket), kAbsoluteOrNone, kPathOrNoneRule,
                  "A socket behind which the service manager starts the connector. \"\": the executor starts it."),
      flag_key<S>("confinement.allow_reduced", INTRAY_FIELD(allow_reduced),
                  "Starts even where the kernel has no Landlock, or one older than ABI 2 (Linux 5.19): files are then "
                  "protected by their modes alone. Log and health say so."),
      number_key<S>("limits.in_flight", INTRAY_FIELD(limits.in_flight), 1, 1'024,
                    "Jobs in a worker's hands at a time."),
      number_key<S>("limits.waiting", INTRAY_FIELD(limits.waiting), 1, 10'000'000,
                    "Jobs that wait in cur/, admitted and not yet under way; further files stay in new/."),
      number_key<S>(
          "limits.per_requester", INTRAY_FIELD(limits.per_requester), 1, 10'000'000,
          "Jobs of one user that wait or are under way, by the owner of their files; further files of this user stay "
          "in new/ until a quarter of the limit is free again, and the log says BACKPRESSURE."),
      size_key<S>(
          "limits.per_requester_bytes", INTRAY_FIELD(limits.per_requester_bytes), limits::kJobFileBytesMax, 1LL << 40U,
          "Bytes of the files of one user's jobs that wait or are under way; further files of this user stay in new/ "
          "as with limits.per_requester."),
      number_key<S>(
          "limits.backlog", INTRAY_FIELD(limits.backlog), 1, 100'000'000,
          "Files in new/ and jobs that wait, together. Beyond it the log says BACKPRESSURE and no file is taken out "
          "of new/ only to wait; jobs that can run are run. Counted at each inbox.scan_interval. It is no "
          "quota: what requesters put into new/ is held by the filesystem's own."),
      duration_key<S>("inbox.scan_interval", INTRAY_FIELD(timing.scan_interval), 50ms, 1h,
                      "The slow timer behind the events: new/ is looked through at least this often."),
      duration_key<S>("inbox.tmp_age", INTRAY_FIELD(timing.tmp_age), 1min, std::chrono::hours{24 * 365},
                      "Files in tmp/ older than this are removed: their writer died."),
      duration_key<S>("lease.time_to_live", INTRAY_FIELD(timing.lease), 1s, 5min,
                      "How long a worker's lease lasts without renewal: after a crash, the next one waits as long."),
      duration_key<S>("lease.renewal", INTRAY_FIELD(timing.renewal), 100ms, 2min,
                      "Time between renewals; at most half of lease.time_to_live."),
      duration_key<S>("lease.grant", INTRAY_FIELD(timing.grant), 500ms, 30s,
                      "How long the permission for one request lasts; at most lease.time_to_live."),
      duration_key<S>("stop.deadline", INTRAY_FIELD(timing.stop), 0s, 1h,
                      "How long a stop waits for requests in flight."),
  };
}

#undef INTRAY_FIELD

Table all_keys() {
  Table out = identity_keys();
  for (Table part : {receiver_keys(), retry_keys(), source_keys(), limit_keys()}) add(out, std::move(part));
  return out;
}

}  // namespace

const std::vector<Key<Settings>>& settings_keys() {
  static const Table kTable = all_keys();
  return kTable;
}

void check_together(const Settings& s, const Seen& seen, std::vector<Problem>& problems) {
  const auto complain = [&](std::string_view key, const std::string& text) {
    problems.push_back({seen.place_of(key), std::string(key) + ": " + text});
  };
  for (const Key<Settings>& key : settings_keys()) {
    const bool optional_here = key.path == "requesters.uids" && s.user_mode;
    if (key.required && !optional_here && !seen.has(key.path))
      complain(key.path, "required and not set; for example: " + key.path + " = " + key.example);
  }
  if (is_https(s.receiver.url) && s.receiver.ca_file.empty())
    complain("receiver.ca_file", "required for an https receiver; name the file with its certificate authority");
  if (!s.receiver.url.empty() && !is_https(s.receiver.url) && !s.receiver.allow_plaintext)
    complain("receiver.url",
             "found http://, which sends the credential readable; use https, or set receiver.allow_plaintext = true");
  if (s.receiver.connect_timeout > s.receiver.total_timeout)
    complain("receiver.connect_timeout",
             "longer than receiver.total_timeout (" + format_duration(s.receiver.total_timeout) + ")");
  if (s.timing.renewal * 2 > s.timing.lease)
    complain("lease.renewal", "more than half of lease.time_to_live (" + format_duration(s.timing.lease) + ")");
  if (s.timing.grant > s.timing.lease)
    complain("lease.grant", "longer than lease.time_to_live (" + format_duration(s.timing.lease) + ")");
  if (s.limits.in_flight > s.limits.waiting)
    complain("limits.in_flight", "more than limits.waiting (" + std::to_string(s.limits.waiting) + ")");
}

}  // namespace intray::config
