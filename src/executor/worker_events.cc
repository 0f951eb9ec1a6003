// The part of the worker that starts, stops and is woken: recovery, watches, timers, signals.

#include <fmt/format.h>
#include <csignal>

#include "base/log.h"
#include "executor/worker.h"
#include "inbox/placement.h"
#include "limits.h"

namespace intray::executor {

using base::LogLevel;

// ---- start ----

base::Result<void> Worker::arm() {
  p_.pool.on_answer([this](bool connected) {
    if (link_ == Link::kDialling) link_ = connected ? Link::kUp : Link::kIdle;
    if (!connected && health_.dial_failed(p_.clock.boot()))
      base::log(LogLevel::kWarn, "receiver_unavailable", {{"receiver", p_.settings.receiver.url}});
  });
  p_.pool.on_broken([this](const std::string& why) {
    base::log(LogLevel::kError, "connector_broken", {{"why", why}});
    leave(Exit::kUnusable);
  });
  INTRAY_TRY(p_.loop.on_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1}, [this](int signo) { on_signal(signo); }));
  if (p_.events != nullptr) {
    auto fresh = p_.events->watch(p_.inbox.fresh, true, true, false);
    auto cur = p_.events->watch(p_.inbox.cur, false, false, true);
    if (fresh && cur) {
      new_watch_ = *fresh;
      cur_watch_ = *cur;
      INTRAY_TRY(p_.loop.watch(p_.events->fd(), true, false, [this](sys::EventLoop::Ready) { on_events(); }));
    } else {
      base::log(LogLevel::kWarn, "no_inotify_watch", {{"falls_back_to", "timer"}});
    }
  }
  p_.loop.after(p_.settings.timing.renewal, [this] { heartbeat(); });
  p_.loop.after(p_.settings.timing.scan_interval, [this] { slow_scan(); });
  return {};
}

base::Result<void> Worker::recover() {
  auto recovered = INTRAY_TRY(p_.ledger.recover(p_.lease));
  if (recovered.back_to_waiting > 0 || !recovered.to_verify.empty())
    base::log(LogLevel::kWarn, "recovered",
              {{"waiting_again", recovered.back_to_waiting}, {"to_read_back", recovered.to_verify.size()}});

  // Where each job's file lies in the lease directory. Files without a job row were taken but never admitted.
  auto leftovers = INTRAY_TRY(intake_.leftovers(p_.clock.wall()));
  std::unordered_map<base::JobId, std::string> lease_names;
  std::vector<inbox::TakenFile> strangers;
  for (inbox::TakenFile& file : leftovers) {
    std::optional<ledger::JobRecord> job;
    if (file.name.job && !file.bytes.empty()) job = INTRAY_TRY(p_.ledger.find_job(file.name.job->job_id));
    if (!job || job->job_sha256 != base::sha256(file.bytes) || lease_names.contains(job->facts.job_id)) {
      strangers.push_back(std::move(file));
      continue;
    }
    const std::string name = file.name.str();
    lease_names[job->facts.job_id] = name;
    if (job->state == model::State::kReady || job->state == model::State::kRetryable) {
      projection_.to_cur(name, *job);
    } else if (model::is_ended(job->state)) {
      if (auto end = INTRAY_TRY(p_.ledger.find_end(job->facts.job_id))) {
        end->from = ledger::Ended::From::kLease;
        projection_.to_final(*end, name);
      }
    }
  }
  std::vector<model::Receipt> poison;
  for (const ledger::Ended& ended : recovered.ended) {
    projection_.to_final(ended, ended.receipt.job_id ? lease_names[*ended.receipt.job_id] : std::string());
    poison.push_back(ended.receipt);
  }
  projection_.issue(poison);
  for (ledger::JobRecord& job : recovered.to_verify) {
    std::string name = lease_names[job.facts.job_id];
    attempts_.add_for_read_back(std::move(job), std::move(name));
  }
  INTRAY_TRY(readmit(std::move(strangers)));
  tidy_cur();
  INTRAY_TRY(reissue_receipts());
  INTRAY_TRY(count_waiting());
  count_backlog();
  intake_.rescan();
  auto stale = inbox::remove_stale_tmp(p_.inbox, p_.clock.wall(), p_.settings.timing.tmp_age);
  if (stale)
    for (const std::string& name : *stale) base::log(LogLevel::kWarn, "stale_tmp_file", {{"file", name}});
  return {};
}

base::Result<void> Worker::count_waiting() {
  const ledger::Waiting waiting = INTRAY_TRY(p_.ledger.waiting());
  waiting_ = waiting.ready + waiting.retryable;
  suspects_ = waiting.suspects;
  unknown_ = waiting.unknown;
  pressure_.recount(INTRAY_TRY(p_.ledger.live_by_owner()));
  for (const inbox::TakenFile& file : batch_files_) pressure_.add(file.owner_uid, file.counted_bytes);
  if (pressure_.room_again()) intake_.rescan();
  if (waiting_ > 0) look_again();
  schedule_due(waiting.next_due);
  return {};
}

// Taken by a process that died before it admitted them: the parser's suspects, read again one at a time. `deaths` goes
// up before each, so that a file that kills its reader is set aside unread at its second death alone.
base::Result<void> Worker::readmit(std::vector<inbox::TakenFile> files) {
  for (inbox::TakenFile& file : files) {
    file.name = INTRAY_TRY(intake_.count_death(file.name));
    ledger::Admit admit;
    if (file.name.deaths > p_.settings.poison_solo_deaths) {
      admit.dropped_name = file.dropped_name;
      admit.take = file.name.take;
      admit.owner_uid = file.owner_uid;
      admit.taken_at = file.taken_at;
      admit.refusal = model::Reason::kPoisonJob;
      admit.detail = fmt::format("{} processes died while they held this file", file.name.deaths);
    } else {
      admit = to_admit(file);
    }
    batch_.admits.push_back(std::move(admit));
    batch_files_.push_back(std::move(file));
    commit_batch();
    if (exit_) return base::fail(base::ErrorCode::kUnavailable, "the ledger failed while leftovers were admitted");
  }
  return {};
}

// A crash between a commit and a rename leaves a job's file in cur/ although it has ended.
void Worker::tidy_cur() {
  auto names = p_.inbox.cur.list();
  if (!names) return;
  for (const std::string& name : *names) {
    const auto placed = inbox::PlacedName::parse(name);
    if (!placed || !placed->job) continue;
    auto end = p_.ledger.find_end(placed->job->job_id);
    if (!end || !*end) continue;
    (*end)->from = ledger::Ended::From::kCur;
    projection_.to_final(**end, {});
  }
}

base::Result<void> Worker::reissue_receipts() {
  const std::vector<ledger::Ended> missing = INTRAY_TRY(p_.ledger.unreceipted(limits::kReissueMax));
  std::vector<model::Receipt> receipts;
  receipts.reserve(missing.size());
  for (const ledger::Ended& ended : missing) receipts.push_back(ended.receipt);
  projection_.issue(receipts);
  settle_receipts();
  return {};
}

// ---- events ----

void Worker::on_events() {
  auto records = p_.events->read();
  if (!records) {
    base::log(LogLevel::kError, "inotify_failed", {{"error", records.error().what}});
    intake_.rescan();
    return;
  }
  std::vector<std::string> names;
  for (sys::WatchRecord& record : *records) {
    switch (record.event) {
      case sys::WatchEvent::kMovedIn:
        if (record.watch == new_watch_) names.push_back(std::move(record.name));
        break;
      case sys::WatchEvent::kCreated:
        if (inbox::is_self_test_name(record.name)) break;
        base::log(LogLevel::kWarn, "plain_create_in_new", {{"file", record.name}});
        look_later(std::move(record.name));
        break;
      case sys::WatchEvent::kTouched: look_ = true; break;
      case sys::WatchEvent::kOverflow:
        base::log(LogLevel::kWarn, "inotify_overflow", {});
        intake_.rescan();
        look_ = true;
        break;
      case sys::WatchEvent::kLost:
        base::log(LogLevel::kError, "inotify_watch_lost", {{"falls_back_to", "timer"}});
        intake_.rescan();
        break;
    }
  }
  intake_.note(std::move(names));
}

void Worker::on_signal(int signo) {
  switch (signo) {
    case SIGTERM:
    case SIGINT:
      if (stopping_) return;
      stopping_ = true;
      stop_by_ = p_.clock.boot() + p_.settings.timing.stop;
      p_.notifier.notify("STOPPING=1");
      base::log(LogLevel::kInfo, "stopping", {{"in_hand", attempts_.in_hand()}, {"under_way", attempts_.under_way()}});
      attempts_.give_back();
      schedule_turn(p_.settings.timing.stop);
      break;
    case SIGUSR1:
      base::log(LogLevel::kInfo, "state",
                {{"attempts", attempts_.describe()},
                 {"waiting", waiting_},
                 {"suspects", suspects_},
                 {"ended", ended_},
                 {"unknown", unknown_},
                 {"breaker", health_.breaker_open() ? "open" : "closed"},
                 {"suspended", health_.suspended() ? model::to_word(*health_.suspended()) : std::string_view("no")},
                 {"connections_ready", p_.pool.ready()},
                 {"commits", p_.ledger.counters().commits},
                 {"epoch", p_.lease.epoch.value}});
      break;
    default: break;  // SIGHUP: nothing destructive
  }
}

bool Worker::renew_lease() {
  auto renewed = p_.ledger.heartbeat(p_.lease, p_.settings.timing.lease);
  if (!renewed) {
    handle_failure(renewed.error());
  } else if (!*renewed) {
    const model::Reason reason = renewed->error().reason;
    base::log(LogLevel::kError, "lease_lost", {{"reason", model::to_word(reason)}});
    // Run out, as after a full disk or a suspended machine, and nobody has taken over: a fresh start does.
    leave(reason == model::Reason::kLeaseExpired ? Exit::kUnusable : Exit::kEpochLost);
  } else {
    p_.lease = **renewed;
    return true;
  }
  return false;
}

void Worker::heartbeat() {
  p_.notifier.notify("WATCHDOG=1");
  static_cast<void>(renew_lease());
  if (!exit_) p_.loop.after(p_.settings.timing.renewal, [this] { heartbeat(); });
}

void Worker::slow_scan() {
  intake_.rescan();
  batch_.expire = waiting_ > 0;
  if (backlog_timer_ == 0) count_backlog();
  if (auto counted = count_waiting(); !counted) handle_failure(counted.error());
  if (!exit_) p_.loop.after(p_.settings.timing.scan_interval, [this] { slow_scan(); });
}

// An open breaker is probed with reads, never with jobs. Whoever opened it, a refused dial or a failed request, the
// next turn finds it open and no probe on its way.
void Worker::probe() {
  const auto due = health_.probe_at();
  if (!due || probing_ || stopping_ || exit_) return;
  probing_ = true;
  p_.loop.after(std::max(base::Micros{0}, *due - p_.clock.boot()), [this] {
    if (!health_.probe_at() || stopping_) {
      probing_ = false;
      return;
    }
    health_.probed(p_.clock.boot());
    const std::string path =
        attempts_.probe_path().empty() ? p_.settings.vault_root + "/intray-probe.md" : attempts_.probe_path();
    p_.client.read(path, [this](const receiver::ReadResult& read) {
      probing_ = false;
      if (read.kind == receiver::ReadResult::Kind::kUnavailable) return;
      health_.answered(p_.clock.boot());
      base::log(LogLevel::kInfo, "receiver_back", {{"receiver", p_.settings.receiver.url}});
      look_again();
    });
  });
}

void Worker::schedule_turn(base::Micros delay) {
  if (wake_timer_ != 0) p_.loop.cancel(wake_timer_);
  wake_timer_ = p_.loop.after(std::max(base::Micros{0}, delay), [this] { wake_timer_ = 0; });
}

// RETRYABLE jobs and settled objects become claimable with time alone.
void Worker::schedule_due(std::optional<base::WallTime> due) {
  if (!due || (due_at_ && *due_at_ <= *due)) return;
  if (due_timer_ != 0) p_.loop.cancel(due_timer_);
  due_at_ = due;
  due_timer_ = p_.loop.after(std::max(base::Micros{1'000}, *due - p_.clock.wall()), [this] {
    due_timer_ = 0;
    due_at_.reset();
    look_again();
  });
}

// ---- stop ----

void Worker::shut_down() {
  if (*exit_ != Exit::kClean && *exit_ != Exit::kUnfinished)
    return;  // the ledger is not to be trusted now: leave it alone
  settle_receipts();
  if (!batch_.empty()) commit_batch();
  auto released = p_.ledger.release(p_.lease);
  if (!released || !*released) base::log(LogLevel::kWarn, "lease_not_released", {});
  base::log(
      LogLevel::kInfo, "stopped",
      {{"ended", ended_}, {"unknown", unknown_}, {"waiting", waiting_}, {"commits", p_.ledger.counters().commits}});
}

}  // namespace intray::executor
