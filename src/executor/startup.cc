#include "executor/startup.h"

#include <fmt/format.h>
#include <csignal>

#include "base/hash.h"
#include "base/log.h"
#include "executor/save/save_operation.h"
#include "limits.h"
#include "receiver/connect_shim.h"
#include "sys/process.h"
#include "sys/resolve.h"

namespace intray::executor {
namespace {

using base::LogLevel;

// A step of the start that failed: what to log, and the exit code it means.
struct Failed {
  Exit code;
  std::string what;
};
template <class T>
using Step = std::expected<T, Failed>;

template <class T>
Step<T> step(base::Result<T> result, Exit code) {
  if (!result) return std::unexpected(Failed{code, std::move(result.error().what)});
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*result);
}

#define INTRAY_STEP(expr)                                                       \
  __extension__({                                                               \
    auto intray_step_ = (expr);                                                 \
    if (!intray_step_) return std::unexpected(std::move(intray_step_).error()); \
    std::move(intray_step_).value();                                            \
  })

// The connector's end of a channel, alive as long as we are: it carries a parent-death signal.
struct Connector {
  int pid = -1;
  sys::Fd channel;
};

Step<Connector> spawn_connector(const config::Settings& settings, const std::string& address,
                                const StartOptions& options) {
  const std::string program =
      settings.connector.empty() ? options.program_dir + "/intray-connector" : settings.connector;
  auto pair = INTRAY_STEP(step(sys::make_channel(), Exit::kUnusable));
  const auto timeout_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(settings.receiver.connect_timeout).count();
  const std::vector<std::string> arguments = {"--address", address, "--connect-timeout-ms", std::to_string(timeout_ms)};
  Connector connector;
  connector.pid = INTRAY_STEP(step(sys::spawn(program, arguments, std::move(pair.theirs)), Exit::kConfiguration));
  connector.channel = std::move(pair.ours);
  return connector;
}

struct SlotLock {
  base::Slot slot;
  sys::Fd lock;
};

// The first free slot by flock: whoever gets it knows that the former holder is dead, without clocks.
Step<SlotLock> take_slot(const inbox::Inbox& inbox, int slots, const base::WorkerId& worker) {
  for (int i = 0; i < slots; ++i) {
    auto lock = INTRAY_STEP(step(inbox.lease.open_rw(fmt::format("{}.lock", i), 0600), Exit::kConfiguration));
    auto locked = sys::lock_exclusive(lock.get());
    if (!locked && locked.error().code == base::ErrorCode::kBusy) continue;
    INTRAY_STEP(step(std::move(locked), Exit::kUnusable));
    auto holder =
        INTRAY_STEP(step(inbox.lease.open_rw(fmt::format("{}.holder", i), inbox.file_mode), Exit::kConfiguration));
    const int pid = sys::process_id();
    const std::string text = fmt::format("worker_id={}\npid={}\nstart_time={}\nboot_id={}\n", worker.str(), pid,
                                         sys::start_time_ticks(pid).value_or(0), sys::boot_id());
    INTRAY_STEP(step(sys::truncate_file(holder.get()), Exit::kUnusable));
    INTRAY_STEP(step(sys::write_all(holder.get(), text), Exit::kUnusable));
    return SlotLock{base::Slot{i}, std::move(lock)};
  }
  return std::unexpected(Failed{Exit::kLeaseHeld, fmt::format("all {} slots are held by running workers", slots)});
}

bool policy_allows(const config::LeasePolicy& policy, const ledger::Identity& identity,
                   const std::vector<std::string>& scopes, bool takeover) {
  std::vector<lease::PolicyRule> rules;
  for (const config::PolicyLine& line : policy.lines)
    rules.push_back({line.tenant, line.agent, line.binding, line.scopes, line.takeover});
  return lease::allows(rules, {identity.tenant, identity.agent, identity.binding}, scopes, takeover);
}

// Acquires the slot's identity lease. Where the former holder died without releasing it, waits until it has run out and
// takes it over: an active lease is never taken, not even with the slot's flock in hand.
Step<ledger::HeldLease> hold_lease(ledger::Ledger& ledger, const ledger::Identity& identity,
                                   const base::WorkerId& worker, const config::Settings& settings,
                                   const config::LeasePolicy& policy, sys::EventLoop& loop, const base::Clock& clock) {
  const std::vector<std::string> scopes = {"claim", "effect:save", "observe"};
  const std::string scope_text = "claim,effect:save,observe";
  const auto missing = [&](std::string_view what) {
    return std::unexpected(
        Failed{Exit::kLeaseHeld, fmt::format("{}: no line allows {} of {}/{}/{} with scopes {}", settings.policy_file,
                                             what, identity.tenant, identity.agent, identity.binding, scope_text)});
  };
  if (!policy_allows(policy, identity, scopes, false)) return missing("a lease");
  const base::BootTime give_up = clock.boot() + limits::kLeaseWaitMax;
  bool told = false;
  while (true) {
    const auto current = INTRAY_STEP(step(ledger.lease(identity), Exit::kUnusable));
    ledger::Decision<ledger::HeldLease> got;
    if (!current) {
      got = ledger.acquire(identity, worker, scope_text, settings.timing.lease);
    } else {
      if (!policy_allows(policy, identity, scopes, true)) return missing("a takeover");
      got = ledger.takeover(identity, current->epoch, worker, scope_text, settings.timing.lease);
    }
    const auto decision = INTRAY_STEP(step(std::move(got), Exit::kUnusable));
    if (decision) return *decision;
    if (decision.error().reason != model::Reason::kLeaseHeld || clock.boot() >= give_up)
      return std::unexpected(Failed{
          Exit::kLeaseHeld, fmt::format("lease on {}: {}", identity.binding, model::to_word(decision.error().reason))});
    if (!told)
      base::log(
          LogLevel::kWarn, "waiting_for_lease",
          {{"binding", identity.binding},
           {"why", "the former worker died without releasing it"},
           {"until", decision.error().current ? base::format_rfc3339(decision.error().current->expires_at) : "-"}});
    told = true;
    loop.after(limits::kLeaseRetry, [] {});
    INTRAY_STEP(step(loop.run_once(limits::kLeaseRetry), Exit::kUnusable));
  }
}

void warn_about(const config::Settings& settings, const inbox::CheckReport& report) {
  for (const std::string& line : report.warnings) base::log(LogLevel::kWarn, "layout", {{"warning", line}});
  if (settings.receiver.allow_plaintext && settings.receiver.url.starts_with("http://"))
    base::log(LogLevel::kWarn, "plaintext_receiver", {{"receiver", settings.receiver.url}});
}

Step<Exit> run(const StartOptions& options) {
  const base::SystemClock clock;
  config::Settings settings =
      INTRAY_STEP(step(config::load_settings(options.config_file, options.kind), Exit::kConfiguration));
  settings.user_mode = settings.user_mode || options.user_mode;
  if (sys::effective_uid() == 0)
    return std::unexpected(
        Failed{Exit::kConfiguration, "refusing to run as root: start it as the executor's own user (intray-save)"});
  if (settings.user_mode) settings.requester_uids = {sys::effective_uid()};
  sys::supplementary_umask(027);
  const config::LeasePolicy policy = INTRAY_STEP(step(config::load_policy(settings.policy_file), Exit::kConfiguration));

  inbox::Owners owners;
  owners.user_mode = settings.user_mode;
  owners.executor_uid = sys::effective_uid();
  if (settings.user_mode) {
    owners.requester_gid = owners.admin_gid = owners.root_gid = sys::effective_gid();
    owners.root_uid = owners.executor_uid;
  } else {
    const auto rq = sys::group_id("intray-rq");
    const auto adm = sys::group_id("intray-adm");
    if (!rq || !adm)
      return std::unexpected(Failed{
          Exit::kConfiguration, "groups intray-rq and intray-adm are missing; 'intray init' says how to make them"});
    owners.requester_gid = *rq;
    owners.admin_gid = *adm;
  }
  const inbox::CheckReport layout = inbox::check(settings.root, options.kind, owners, settings.limits.slots);
  warn_about(settings, layout);
  for (const std::string& line : layout.errors) base::log(LogLevel::kError, "layout", {{"error", line}});
  if (!layout.errors.empty())
    return std::unexpected(Failed{Exit::kConfiguration, fmt::format("{}/{} is not as 'intray init' makes it",
                                                                    settings.root, model::to_word(options.kind))});
  const inbox::Inbox inbox =
      INTRAY_STEP(step(inbox::Inbox::open(settings.root, options.kind, settings.limits.slots, settings.user_mode),
                       Exit::kConfiguration));

  // Resolved once, here, so that the connector dials and the executor expects the same address.
  const auto endpoint = INTRAY_STEP(step(receiver::parse_endpoint(settings.receiver.url), Exit::kConfiguration));
  const std::string address =
      INTRAY_STEP(step(sys::resolve_numeric(endpoint.host, endpoint.port), Exit::kConfiguration));
  Connector connector = INTRAY_STEP(spawn_connector(settings, address, options));
  const base::WorkerId worker_id = base::WorkerId::generate();
  const SlotLock slot = INTRAY_STEP(take_slot(inbox, settings.limits.slots, worker_id));

  ledger::OpenOptions ledger_options;
  ledger_options.path = inbox::ledger_path(settings.root, options.kind);
  ledger_options.kind = options.kind;
  ledger_options.boot_id = sys::boot_id();
  ledger_options.file_mode = inbox.file_mode;
  ledger_options.policy.deadline_us = settings.job_deadline.count();
  ledger_options.policy.attempts_max = settings.retry.attempts_max;
  ledger_options.policy.solo_deaths_max = settings.poison_solo_deaths;
  ledger_options.policy.job_lease_us = settings.timing.lease.count();
  const auto ledger = INTRAY_STEP(step(ledger::open_sqlite(ledger_options, clock), Exit::kUnusable));

  const auto loop = INTRAY_STEP(step(sys::EventLoop::create(), Exit::kUnusable));
  const ledger::Identity identity{settings.tenant, settings.agent,
                                  fmt::format("{}/{}", model::to_word(options.kind), slot.slot.value)};
  const ledger::HeldLease held = INTRAY_STEP(hold_lease(*ledger, identity, worker_id, settings, policy, *loop, clock));

  source::Options source_options;
  source_options.path = settings.source.mirror;
  source_options.bare_only = true;
  source_options.branches = settings.source.branches;
  source_options.object_format = settings.source.object_format;
  source_options.max_age = settings.source.max_age;
  source_options.content_bytes_max = settings.source.content_bytes_max;
  const auto source = INTRAY_STEP(step(source::Source::open(source_options, clock), Exit::kConfiguration));
  const auto content_rules =
      INTRAY_STEP(step(source::ContentRules::compile(settings.source.secret_patterns), Exit::kConfiguration));

  const receiver::Credential credential = INTRAY_STEP(
      step(receiver::Credential::load(settings.receiver.credential_file, sys::effective_uid()), Exit::kCredential));
  INTRAY_STEP(step(receiver::shim_works(), Exit::kSelfTest));

  receiver::PoolOptions pool_options;
  pool_options.peer_address = address;
  pool_options.ready_age_max = settings.receiver.idle_reuse;
  const auto pool = INTRAY_STEP(step(
      receiver::DescriptorPool::create(std::move(connector.channel), pool_options, *loop, clock), Exit::kUnusable));
  receiver::Options client_options;
  client_options.url = settings.receiver.url;
  if (endpoint.tls)
    client_options.ca_pem =
        INTRAY_STEP(step(sys::read_file(settings.receiver.ca_file, limits::kCaFileBytesMax), Exit::kConfiguration));
  client_options.connect_timeout = settings.receiver.connect_timeout;
  client_options.total_timeout = settings.receiver.total_timeout;
  client_options.low_speed_bytes = settings.receiver.low_speed_bytes;
  client_options.low_speed_window = settings.receiver.low_speed_window;
  client_options.idle_reuse = settings.receiver.idle_reuse;
  client_options.content_bytes_max = settings.source.content_bytes_max;
  client_options.in_flight_max = settings.limits.in_flight;
  const auto client = INTRAY_STEP(
      step(receiver::Client::create(client_options, credential, *pool, *loop, clock), Exit::kConfiguration));

  save::SaveOperation operation(settings, *source, content_rules, *ledger, *client, credential);
  INTRAY_STEP(step(operation.load_missions(), Exit::kConfiguration));

  std::optional<sys::Inotify> events;
  if (auto made = sys::Inotify::create())
    events.emplace(std::move(*made));
  else
    base::log(LogLevel::kWarn, "no_inotify", {{"error", made.error().what}, {"falls_back_to", "timer"}});

  lease::Coordinator coordinator([&] { return ledger->still_holds(held); }, clock, settings.timing.grant);
  sys::Notifier notifier = sys::Notifier::from_environment();
  Worker worker({settings, inbox, slot.slot, *ledger, held, operation, *client, *pool, coordinator, *loop,
                 events ? &*events : nullptr, notifier, clock});
  const Exit code = worker.run(options.once);
  sys::send_signal(connector.pid, SIGTERM);
  return code;
}

}  // namespace

Exit run_save(const StartOptions& options) {
  auto code = run(options);
  if (code) return *code;
  base::log(LogLevel::kError, "not_started",
            {{"error", code.error().what}, {"exit", static_cast<int>(code.error().code)}});
  return code.error().code;
}

}  // namespace intray::executor
