#include "executor/startup.h"

#include <fmt/format.h>
#include <cstdio>
#include <exception>
#include <memory>

#include "base/hash.h"
#include "base/log.h"
#include "executor/confinement.h"
#include "executor/save/save_operation.h"
#include "limits.h"
#include "sys/hardening.h"
#include "sys/process.h"
#include "sys/resolve.h"

namespace intray::executor {
namespace {

using base::LogLevel;

constexpr base::Micros kConnectorGrace{1'000'000};  // beyond its own time-out, for its answer to come through

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

// It lives as long as we do: it ends with its channel, and by a parent-death signal.
Step<sys::Fd> spawn_connector(const config::Settings& settings, const std::string& address,
                              const std::string& program) {
  auto pair = INTRAY_STEP(step(sys::make_channel(), Exit::kUnusable));
  const auto timeout_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(settings.receiver.connect_timeout).count();
  std::vector<std::string> arguments = {"--address", address, "--connect-timeout-ms", std::to_string(timeout_ms)};
  if (settings.allow_reduced) arguments.emplace_back("--allow-reduced");
  if (auto started = sys::spawn(program, arguments, std::move(pair.theirs)); !started)
    return std::unexpected(
        Failed{Exit::kConfiguration, started.error().what + "; connector.program says where the connector is"});
  return std::move(pair.ours);
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
    auto written = sys::truncate_file(holder.get());
    if (written) written = sys::write_all(holder.get(), text);
    if (!written)
      return std::unexpected(
          Failed{Exit::kUnusable, fmt::format("{}/{}.holder: {}", inbox.lease.path(), i, written.error().what)});
    return SlotLock{base::Slot{i}, std::move(lock)};
  }
  return std::unexpected(Failed{Exit::kLeaseHeld, fmt::format("all {} slots are held by running workers", slots)});
}

bool policy_allows(const config::LeasePolicy& policy, const ledger::Identity& identity,
                   const std::vector<std::string>& scopes, bool takeover) {
  std::vector<lease::PolicyRule> rules;
  rules.reserve(policy.lines.size());
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

Step<inbox::Owners> owners_of(const config::Settings& settings) {
  inbox::Owners owners;
  owners.user_mode = settings.user_mode;
  owners.executor_uid = sys::effective_uid();
  if (settings.user_mode) {
    owners.requester_gid = owners.admin_gid = owners.root_gid = sys::effective_gid();
    owners.root_uid = owners.executor_uid;
    return owners;
  }
  const auto rq = sys::group_id("intray-rq");
  const auto adm = sys::group_id("intray-adm");
  if (!rq || !adm)
    return std::unexpected(Failed{Exit::kConfiguration,
                                  "groups intray-rq and intray-adm are missing; 'intray init' says how to make them"});
  owners.requester_gid = *rq;
  owners.admin_gid = *adm;
  return owners;
}

Step<inbox::Inbox> open_inbox(const config::Settings& settings, model::JobKind kind) {
  const inbox::Owners owners = INTRAY_STEP(owners_of(settings));
  const inbox::CheckReport layout = inbox::check(settings.root, kind, owners, settings.limits.slots);
  warn_about(settings, layout);
  for (const std::string& line : layout.errors) base::log(LogLevel::kError, "layout", {{"error", line}});
  if (!layout.errors.empty())
    return std::unexpected(Failed{Exit::kConfiguration, fmt::format("{}/{} is not as 'intray init' makes it",
                                                                    settings.root, model::to_word(kind))});
  return step(inbox::Inbox::open(settings.root, kind, settings.limits.slots, settings.user_mode), Exit::kConfiguration);
}

// A ledger that is gone is a memory of effects that is gone: what was sent would be sent again.
Step<void> check_ledger_not_lost(const config::Settings& settings, const inbox::Inbox& inbox, model::JobKind kind) {
  const std::string path = inbox::ledger_path(settings.root, kind);
  if (sys::stat_path(path)) return {};
  for (const sys::Dir* dir : {&inbox.receipts, &inbox.done, &inbox.failed, &inbox.unknown}) {
    sys::DirStream stream = INTRAY_STEP(step(dir->stream(), Exit::kUnusable));
    const auto names = INTRAY_STEP(step(stream.next(1), Exit::kUnusable));
    if (names.empty()) continue;
    return std::unexpected(Failed{
        Exit::kConfiguration, fmt::format("{} is missing, but {} holds what it has done: put the ledger back, or "
                                          "move those files away to begin anew, knowing that jobs may be sent again",
                                          path, dir->path())});
  }
  return {};
}

Step<std::unique_ptr<ledger::Ledger>> open_ledger(const config::Settings& settings, model::JobKind kind,
                                                  std::uint32_t file_mode, const base::Clock& clock) {
  ledger::OpenOptions options;
  options.path = inbox::ledger_path(settings.root, kind);
  options.kind = kind;
  options.boot_id = sys::boot_id();
  options.file_mode = file_mode;
  options.policy.deadline_us = settings.job_deadline.count();
  options.policy.attempts_max = settings.retry.attempts_max;
  options.policy.solo_deaths_max = settings.poison_solo_deaths;
  options.policy.job_lease_us = settings.timing.lease.count();
  return step(ledger::open_sqlite(options, clock), Exit::kUnusable);
}

Step<std::unique_ptr<source::Source>> open_source(const config::Settings& settings, const base::Clock& clock) {
  source::Options options;
  options.path = settings.source.mirror;
  options.bare_only = true;
  if (!settings.source.mirror_owner.empty())
    options.owner_uid = INTRAY_STEP(step(sys::find_user(settings.source.mirror_owner), Exit::kConfiguration));
  options.branches = settings.source.branches;
  options.object_format = settings.source.object_format;
  options.max_age = settings.source.max_age;
  options.content_bytes_max = settings.source.content_bytes_max;
  return step(source::Source::open(options, clock), Exit::kConfiguration);
}

Step<receiver::Options> client_options(const config::Settings& settings, bool tls) {
  receiver::Options options;
  options.url = settings.receiver.url;
  if (tls)
    options.ca_pem =
        INTRAY_STEP(step(sys::read_file(settings.receiver.ca_file, limits::kCaFileBytesMax), Exit::kConfiguration));
  options.connect_timeout = settings.receiver.connect_timeout;
  options.total_timeout = settings.receiver.total_timeout;
  options.low_speed_bytes = settings.receiver.low_speed_bytes;
  options.low_speed_window = settings.receiver.low_speed_window;
  options.idle_reuse = settings.receiver.idle_reuse;
  options.content_bytes_max = settings.source.content_bytes_max;
  options.in_flight_max = settings.limits.in_flight;
  return options;
}

// Asks for one connection. Which of the two answers comes is the receiver's affair; that one comes is ours.
void prove_connector(receiver::DescriptorPool& pool, sys::EventLoop& loop, base::Micros connect_timeout,
                     const base::Clock& clock, Confinement& confinement) {
  const auto answered = std::make_shared<std::optional<bool>>();
  pool.on_answer([answered](bool connected) {
    if (!answered->has_value()) *answered = connected;
  });
  pool.ask(1);
  const base::BootTime give_up = clock.boot() + connect_timeout + kConnectorGrace;
  while (!answered->has_value() && !pool.broken() && clock.boot() < give_up)
    if (!loop.run_once(limits::kLeaseRetry)) break;
  const bool came = answered->has_value() && !pool.broken();
  std::string what = "no answer from the connector";
  if (pool.broken())
    what = "the connector: " + *pool.broken();
  else if (came)
    what = **answered ? "a connection to the receiver" : "the receiver is not there now";
  confinement.add({"connector", came, what});
}

// The last of the start: the proof, after which nothing works but what the plan names.
Step<void> lock_down(Confinement& confinement, base::Slot slot) {
  INTRAY_STEP(step(confinement.lock(slot), Exit::kSelfTest));
  confinement.prove_works(slot);
  return {};
}

Step<void> check_findings(const Confinement& confinement) {
  const std::string failures = confinement.failures();
  // A connector that is not up yet is tried again by the service manager; a lock-down that doesn't hold is not.
  if (!failures.empty())
    return std::unexpected(
        Failed{confinement.only_failed("connector") ? Exit::kUnusable : Exit::kSelfTest, "self-test: " + failures});
  const confine::Status& status = confinement.status();
  base::log(status.level == confine::Level::kFull ? LogLevel::kInfo : LogLevel::kWarn, "confined",
            {{"status", status.line}, {"checks", confinement.findings().size()}});
  return {};
}

// Everything opened that needs no slot, and the proof that the lock-down refuses what it must.
struct Foundation {
  const base::SystemClock clock;
  config::Settings settings;
  std::optional<inbox::Inbox> inbox;
  receiver::Endpoint endpoint;
  std::string address;
  std::unique_ptr<sys::EventLoop> loop;
  sys::Fd channel;
  std::optional<Confinement> confinement;
};

Step<std::unique_ptr<Foundation>> lay_foundation(const StartOptions& options) {
  auto f = std::make_unique<Foundation>();
  f->settings = INTRAY_STEP(step(config::load_settings(options.config_file, options.kind), Exit::kConfiguration));
  config::Settings& settings = f->settings;
  settings.user_mode = settings.user_mode || options.user_mode;
  if (sys::effective_uid() == 0)
    return std::unexpected(
        Failed{Exit::kConfiguration, "refusing to run as root: start it as the executor's own user (intray-save)"});
  if (settings.user_mode && settings.requester_uids.empty()) settings.requester_uids = {sys::effective_uid()};
  sys::supplementary_umask(027);
  f->inbox = INTRAY_STEP(open_inbox(settings, options.kind));
  INTRAY_STEP(check_ledger_not_lost(settings, *f->inbox, options.kind));

  // Resolved once, here, so that the connector dials and the executor expects the same address.
  f->endpoint = INTRAY_STEP(step(receiver::parse_endpoint(settings.receiver.url), Exit::kConfiguration));
  const std::string& host = settings.receiver.address.empty() ? f->endpoint.host : settings.receiver.address;
  f->address = INTRAY_STEP(step(sys::resolve_numeric(host, f->endpoint.port), Exit::kConfiguration));
  f->loop = INTRAY_STEP(step(sys::EventLoop::create(), Exit::kUnusable));
  const std::string connector =
      settings.connector.empty() ? options.program_dir + "/intray-connector" : settings.connector;
  f->channel = settings.connector_socket.empty()
                   ? INTRAY_STEP(spawn_connector(settings, f->address, connector))
                   : INTRAY_STEP(step(sys::connect_channel(settings.connector_socket), Exit::kUnusable));
  if (const auto mirror = sys::Dir::open(settings.source.mirror); !mirror)
    return std::unexpected(
        Failed{Exit::kConfiguration,
               fmt::format("git.mirror: {}; it must be a directory, not a link to one", mirror.error().what)});
  f->confinement.emplace(settings, options.kind, *f->inbox, *f->loop, f->channel.get(), options.config_file,
                         options.program_file, confine::save_plan);
  f->confinement->prove_denials();
  return f;
}

Step<std::unique_ptr<receiver::DescriptorPool>> make_pool(Foundation& f) {
  receiver::PoolOptions options;
  options.peer_address = f.address;
  options.ready_age_max = f.settings.receiver.idle_reuse;
  return step(receiver::DescriptorPool::create(std::move(f.channel), options, *f.loop, f.clock), Exit::kUnusable);
}

// --self-test: the same lock-down, and nothing is worked on. It holds neither slot nor lease, so it may run beside a
// worker, whose jobs it doesn't see.
Step<Exit> self_test(const StartOptions& options) {
  const auto f = INTRAY_STEP(lay_foundation(options));
  Confinement& confinement = *f->confinement;
  const base::Slot first{0};
  const auto ledger = INTRAY_STEP(open_ledger(f->settings, options.kind, f->inbox->file_mode, f->clock));
  const auto source = INTRAY_STEP(open_source(f->settings, f->clock));
  const auto pool = INTRAY_STEP(make_pool(*f));
  INTRAY_STEP(lock_down(confinement, first));
  confinement.add({"ledger_write", ledger->sign_out(), "one transaction"});
  prove_connector(*pool, *f->loop, f->settings.receiver.connect_timeout, f->clock, confinement);
  std::printf("%s\n", confinement.report().c_str());
  sys::leave(static_cast<int>(confinement.failures().empty() ? Exit::kClean : Exit::kSelfTest));
}

// What is thrown here is our own bug. Unwinding would close what may not be closed, and pass for a violation.
Exit run_to_its_end(Worker& worker, bool once) try { return worker.run(once); } catch (const std::exception& e) {
  base::log(LogLevel::kError, "internal_error", {{"what", e.what()}});
  return Exit::kUnusable;
}

Step<Exit> work(const StartOptions& options) {
  const auto f = INTRAY_STEP(lay_foundation(options));
  const config::Settings& settings = f->settings;
  const inbox::Inbox& inbox = *f->inbox;
  const base::Clock& clock = f->clock;
  const config::LeasePolicy policy = INTRAY_STEP(step(config::load_policy(settings.policy_file), Exit::kConfiguration));
  const base::WorkerId worker_id = base::WorkerId::generate();
  const SlotLock slot = INTRAY_STEP(take_slot(inbox, settings.limits.slots, worker_id));
  const auto ledger = INTRAY_STEP(open_ledger(settings, options.kind, inbox.file_mode, clock));
  const auto source = INTRAY_STEP(open_source(settings, clock));
  const auto content_rules =
      INTRAY_STEP(step(source::ContentRules::compile(settings.source.secret_patterns), Exit::kConfiguration));

  const receiver::Credential credential = INTRAY_STEP(
      step(receiver::Credential::load(settings.receiver.credential_file, sys::effective_uid()), Exit::kCredential));
  const auto pool = INTRAY_STEP(make_pool(*f));
  const receiver::Options client_settings = INTRAY_STEP(client_options(settings, f->endpoint.tls));
  const auto client = INTRAY_STEP(
      step(receiver::Client::create(client_settings, credential, *pool, *f->loop, clock), Exit::kConfiguration));
  save::SaveOperation operation(settings, *source, content_rules, *ledger, *client, credential);
  INTRAY_STEP(step(operation.load_missions(), Exit::kConfiguration));

  // After all that a person may have set wrongly: a lease that is held by a failed start keeps the next one waiting.
  const ledger::Identity identity{settings.tenant, settings.agent,
                                  fmt::format("{}/{}", model::to_word(options.kind), slot.slot.value)};
  const ledger::HeldLease held =
      INTRAY_STEP(hold_lease(*ledger, identity, worker_id, settings, policy, *f->loop, clock));
  std::optional<sys::Inotify> events;
  if (auto made = sys::Inotify::create())
    events.emplace(std::move(*made));
  else
    base::log(LogLevel::kWarn, "no_inotify", {{"error", made.error().what}, {"falls_back_to", "timer"}});
  lease::Coordinator coordinator([&] { return ledger->still_holds(held); }, clock, settings.timing.grant);
  Worker worker({settings, inbox, slot.slot, *ledger, held, operation, *client, *pool, coordinator, *f->loop,
                 events ? &*events : nullptr, options.notifier, clock});
  INTRAY_STEP(step(worker.arm(), Exit::kUnusable));

  Confinement& confinement = *f->confinement;
  INTRAY_STEP(lock_down(confinement, slot.slot));
  const bool renewed = worker.renew_lease();
  confinement.add({"ledger_write", renewed, "the lease renewed"});
  prove_connector(*pool, *f->loop, settings.receiver.connect_timeout, clock, confinement);
  Exit code = Exit::kSelfTest;
  if (auto proved = check_findings(confinement); proved) {
    code = run_to_its_end(worker, options.once);
  } else {
    code = proved.error().code;
    static_cast<void>(ledger->release(held));
    base::log(LogLevel::kError, "not_started", {{"error", proved.error().what}, {"exit", static_cast<int>(code)}});
  }
  ledger->sign_out();
  // A locked-down process may not close what it had open before, so nothing is destroyed.
  sys::leave(static_cast<int>(code));
}

}  // namespace

Exit run_save(const StartOptions& options) {
  auto code = options.self_test ? self_test(options) : work(options);
  if (code) return *code;
  base::log(LogLevel::kError, "not_started",
            {{"error", code.error().what}, {"exit", static_cast<int>(code.error().code)}});
  return code.error().code;
}

}  // namespace intray::executor
