#include "cli/ls.h"

#include <algorithm>
#include <ostream>

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/site.h"
#include "cli/text.h"
#include "cli/words.h"
#include "config/nearest.h"

namespace intray::cli {
namespace {

using model::State;

constexpr std::size_t kOverviewRows = 10;           // of READY and of NEW on a terminal; the rest is counted
constexpr std::size_t kNamesListedMax = 100'000;    // of new/: sorted, so held in memory, 10 MiB
constexpr std::size_t kOverviewReadyMax = 100'000;  // likewise, 60 MiB

// What an admin must see first.
int rank(State state) {
  constexpr auto kOrder = std::to_array(
      {State::kUnknown, State::kExecuting, State::kClaimed, State::kRetryable, State::kReady, State::kCreated});
  return static_cast<int>(std::ranges::find(kOrder, state) - kOrder.begin());
}

struct Run {
  Console& console;
  const LsOptions& options;
  const LsSelection& selection;
  Listing& listing;
};

bool room(const Run& run) { return run.options.limit == 0 || run.listing.listed() < run.options.limit; }

// Jobs that wait or run and those that need a person, the latter first.
base::Result<void> overview(Run& run, model::JobKind kind, ledger::Reader& reader) {
  std::vector<ledger::JobSummary> jobs;
  std::int64_t more = 0;
  std::size_t ready = 0;
  const bool brief = run.console.out_is_terminal && !run.console.json && !run.options.ids_only;
  const std::size_t ready_max = brief ? kOverviewRows : kOverviewReadyMax;
  const auto keep = [&](const ledger::JobSummary& summary) {
    if (summary.job.state == State::kReady && ++ready > ready_max) {
      ++more;
    } else {
      jobs.push_back(summary);
    }
  };
  INTRAY_TRY(reader.list(
      {.states = {State::kCreated, State::kReady, State::kClaimed, State::kExecuting, State::kRetryable}}, keep));
  // Asked for second: a job that became unknown in between shows as unknown, once.
  INTRAY_TRY(reader.list({.states = {State::kUnknown}}, [&](const ledger::JobSummary& summary) {
    std::erase_if(jobs, [&](const ledger::JobSummary& other) { return other.job.seq == summary.job.seq; });
    jobs.push_back(summary);
  }));
  if (run.options.newest_first) {
    std::ranges::sort(jobs, std::ranges::greater{}, &ledger::JobSummary::state_since);
  } else {
    std::ranges::sort(jobs, {}, [](const ledger::JobSummary& s) { return std::tuple(rank(s.job.state), s.job.seq); });
  }
  if (run.options.reverse) std::ranges::reverse(jobs);
  for (const ledger::JobSummary& job : jobs)
    if (room(run)) run.listing.add(job);
  run.listing.note_more(more, "READY", kind);
  return {};
}

base::Result<void> chosen(Run& run, model::JobKind kind, ledger::Reader& reader) {
  const LsSelection& selection = run.selection;
  const bool all = selection.overview();
  const auto wants = [&](State state) {
    return all || std::ranges::find(selection.states, state) != selection.states.end();
  };
  // Admission order is the order of age; -t turns it, -r turns it again.
  const bool newest = run.options.newest_first != run.options.reverse;
  if (all || !selection.states.empty()) {
    INTRAY_TRY(reader.list({.states = selection.states, .limit = run.options.limit, .newest_first = newest},
                           [&](const ledger::JobSummary& job) { run.listing.add(job); }));
  }
  if (wants(State::kRejected) && room(run)) {
    const std::int64_t left = run.options.limit == 0 ? 0 : run.options.limit - run.listing.listed();
    INTRAY_TRY(reader.files(left, [&](const ledger::FileSummary& file) { run.listing.add(file, kind); }));
  }
  return {};
}

void list_new(Run& run, model::JobKind kind, NewFiles& files) {
  if (run.options.newest_first != run.options.reverse) std::ranges::reverse(files.oldest);
  for (const NewFile& file : files.oldest)
    if (room(run)) run.listing.add(file, kind);
  run.listing.note_more(files.seen - static_cast<std::int64_t>(files.oldest.size()), "NEW", kind);
}

int list_kind(Console& console, const LsOptions& options, const LsSelection& selection, const Site& site,
              model::JobKind kind, bool kind_column) {
  int code = kDone;
  Listing listing(console, options.details, options.ids_only, kind_column);
  Run run{console, options, selection, listing};
  Totals totals;
  totals.kind = kind;

  auto reader = open_reader(site, kind, console.clock);
  base::Result<void> read;
  if (reader) {
    read = selection.overview() && !options.all ? overview(run, kind, **reader) : chosen(run, kind, **reader);
    if (auto counts = (*reader)->counts(); read && counts) {
      totals.counts = *counts;
      totals.ledger_read = true;
    } else if (read) {
      read = std::unexpected(std::move(counts).error());
    }
  } else if (reader.error().code != base::ErrorCode::kNotFound) {  // not there: nothing was ever admitted
    read = std::unexpected(std::move(reader).error());
  } else {
    totals.ledger_read = true;
  }
  if (!read) code = exit_code_of(read.error());

  const bool show_new = selection.overview() || selection.fresh;
  const bool brief = console.out_is_terminal && !console.json && selection.overview() && !options.all;
  NewFiles fresh = look_at_new(site.root, kind, !show_new ? 0 : brief ? kOverviewRows : kNamesListedMax);
  if (show_new) list_new(run, kind, fresh);
  listing.finish();

  if (!read) complain(console, read.error());
  for (const base::Error& error : fresh.errors) complain(console, error);
  if (!fresh.errors.empty()) code = std::max(code, kUnreadable);
  totals.fresh = fresh.seen;
  totals.in_tmp = fresh.in_tmp;
  totals.vanished = fresh.vanished;
  totals.unreadable = fresh.unreadable + static_cast<std::int64_t>(fresh.errors.size()) + (read ? 0 : 1);
  totals.listed = listing.listed();
  if (!options.ids_only)
    print_totals(console, totals);
  else if (totals.unreadable > 0)
    complain(console, "the list is not complete: " + count(totals.unreadable, "thing") + " could not be read");
  return code;
}

}  // namespace

base::Result<LsSelection> select_listing(const std::vector<std::string>& words) {
  LsSelection out;
  for (const std::string& word : words) {
    if (const auto kind = model::parse_kind(lower(word)); kind && !out.kind) {
      out.kind = kind;
    } else if (const auto state = state_of(word)) {
      out.states.push_back(*state);
    } else if (upper(word) == "NEW") {
      out.fresh = true;
    } else {
      std::vector<std::string_view> known = {"save", "delete", "NEW", "UNKNOWN"};
      for (int i = 0; i < model::kStates; ++i) known.push_back(model::to_word(static_cast<State>(i)));
      const auto guess = config::nearest(word, known);
      std::string all;
      for (const std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
      return base::fail(base::ErrorCode::kInvalid,
                        base::escape(word) + ": neither a kind of job nor a state; " +
                            (guess ? "did you mean " + std::string(*guess) + "?" : "there are " + all));
    }
  }
  return out;
}

int run_ls(Console& console, const LsOptions& options) {
  const auto selection = select_listing(options.words);
  if (!selection) {
    complain(console, selection.error());
    return kUsage;
  }
  const auto site = find_site(options.root);
  if (!site) {
    complain(console, site.error());
    return kUnreadable;
  }
  const auto kinds = kinds_of(*site, selection->kind);
  if (!kinds) {
    complain(console, kinds.error());
    return kUnreadable;
  }
  int code = kDone;
  for (const model::JobKind kind : *kinds)
    code = std::max(code, list_kind(console, options, *selection, *site, kind, kinds->size() > 1));
  return code;
}

}  // namespace intray::cli
