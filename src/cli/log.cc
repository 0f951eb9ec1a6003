#include "cli/log.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "cli/audit_view.h"
#include "cli/exit_code.h"
#include "cli/find_job.h"
#include "cli/job_view.h"
#include "cli/json_line.h"
#include "cli/text.h"
#include "inbox/layout.h"
#include "sys/change_watch.h"

namespace intray::cli {
namespace {

constexpr std::size_t kRowsPerRead = 1'000;
constexpr base::Micros kFollowTimer = std::chrono::seconds{1};        // behind the events
constexpr base::Micros kFollowPause = std::chrono::milliseconds{50};  // gathers what a busy executor writes

// One kind's trail, read forward.
struct Trail {
  model::JobKind kind;
  std::shared_ptr<ledger::Reader> reader;
  std::optional<base::JobId> job;
  base::AuditSeq after;
  bool kind_shown = false;
};

void print(Console& console, const Trail& trail, const ledger::AuditRow& row) {
  if (console.json) {
    nlohmann::json object = audit_json(row);
    object["kind"] = model::to_word(trail.kind);
    return print_json(console, object);
  }
  // The trail has no end, so its columns have fixed widths; the last takes what is left.
  constexpr int kEventColumns = 18;
  std::string line = console.time(row.at) + "  ";
  if (trail.kind_shown) line += fmt::format("{:<6}  ", model::to_word(trail.kind));
  if (!trail.job) line += fmt::format("{:<8}  ", row.job_id ? short_id(row.job_id->str()) : "-");
  line += fmt::format("{:<{}}  ", row.event, kEventColumns);
  std::string rest = audit_text(row);
  if (console.columns > 0) rest = cut_end(rest, std::max(20, console.columns - width(line)));
  console.out << line << console.paint(colour_of(row), rest) << '\n';
}

// Everything there is now.
base::Result<void> read_on(Console& console, Trail& trail) {
  while (true) {
    const std::vector<ledger::AuditRow> rows = INTRAY_TRY(trail.reader->audit(trail.after, trail.job, kRowsPerRead));
    for (const ledger::AuditRow& row : rows) {
      print(console, trail, row);
      trail.after = row.seq;
    }
    if (rows.size() < kRowsPerRead) break;
  }
  console.out.flush();
  return {};
}

base::Result<std::vector<Trail>> open_trails(const Site& site, const LogOptions& options, const base::Clock& clock) {
  std::vector<Trail> out;
  if (!options.job.empty()) {
    FoundJob found = INTRAY_TRY(find_job(site, options.job, clock));
    const base::JobId id = found.id();
    if (found.only_in_new)
      return base::fail(base::ErrorCode::kNotFound, id.str() + ": handed over, and not taken by the executor yet");
    out.push_back({.kind = found.kind, .reader = found.reader, .job = id, .after = {}});
    return out;
  }
  const std::vector<model::JobKind> kinds = INTRAY_TRY(kinds_of(site, std::nullopt));
  for (const model::JobKind kind : kinds) {
    auto reader = open_reader(site, kind, clock);
    if (!reader && reader.error().code == base::ErrorCode::kNotFound) continue;  // nothing has happened there
    if (!reader) return std::unexpected(std::move(reader).error());
    out.push_back(
        {.kind = kind, .reader = std::move(*reader), .job = std::nullopt, .after = {}, .kind_shown = kinds.size() > 1});
  }
  if (out.empty())
    return base::fail(base::ErrorCode::kNotFound, site.root + ": nothing is recorded yet; the executor has not run");
  return out;
}

sys::ChangeWatch watch_ledger(const Site& site, model::JobKind kind) {
  std::string dir = inbox::ledger_path(site.root, kind);
  dir.resize(dir.rfind('/'));
  const auto opened = sys::Dir::open(dir);
  if (!opened) return {};
  auto watch = sys::ChangeWatch::open(*opened);
  return watch ? std::move(*watch) : sys::ChangeWatch();
}

}  // namespace

int run_log(Console& console, const LogOptions& options) {
  const auto site = find_site(options.root);
  if (!site) {
    complain(console, site.error());
    return kUnreadable;
  }
  auto trails = open_trails(*site, options, console.clock);
  if (!trails) {
    complain(console, trails.error());
    const base::ErrorCode code = trails.error().code;
    return !options.job.empty() && (code == base::ErrorCode::kInvalid || code == base::ErrorCode::kNotFound)
               ? kNo
               : exit_code_of(trails.error());
  }
  // With several kinds the first one's ledger wakes us; the others are read on its events and on the timer.
  sys::ChangeWatch watch = options.follow ? watch_ledger(*site, trails->front().kind) : sys::ChangeWatch();
  while (true) {
    for (Trail& trail : *trails) {
      if (auto read = read_on(console, trail); !read) {
        complain(console, read.error());
        return exit_code_of(read.error());
      }
    }
    if (!options.follow || !console.out) return kDone;
    if (watch.wait(kFollowTimer)) std::this_thread::sleep_for(kFollowPause);
  }
}

}  // namespace intray::cli
