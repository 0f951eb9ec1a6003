#include "cli/listing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/escape.h"
#include "cli/job_view.h"
#include "cli/json_line.h"
#include "cli/text.h"
#include "cli/words.h"

namespace intray::cli {
namespace {

using model::State;

std::vector<Column> columns(bool details, bool kind_column) {
  std::vector<Column> out;
  if (kind_column) out.push_back({"KIND"});
  out.push_back({"STATE"});
  out.push_back({"AGE", Column::Fit::kWhole, true});
  if (details) {
    out.push_back({"TRIES", Column::Fit::kWhole, true});
    out.push_back({"WORKER"});
  }
  out.push_back({"JOB"});
  if (details) out.push_back({"OBJECT", Column::Fit::kCutEnd});
  out.push_back({"PATH", Column::Fit::kCutStart});
  out.push_back({"WHY", Column::Fit::kCutEnd});
  return out;
}

std::string why(const ledger::JobSummary& summary, base::WallTime now) {
  const ledger::JobRecord& job = summary.job;
  std::string text = why_of(summary);
  const auto more = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (job.state == State::kRetryable && job.not_before)
    more(*job.not_before > now ? "again in " + age(*job.not_before - now) : "due now");
  if (job.state == State::kReady && job.follows) more("waits for the first job with its key");
  if (job.suspect && !model::is_ended(job.state)) more("its worker died; runs alone");
  return text;
}

}  // namespace

Listing::Listing(Console& console, bool details, bool ids_only, bool kind_column)
    : console_(console),
      details_(details),
      ids_only_(ids_only),
      kind_column_(kind_column),
      now_(console.clock.wall()),
      table_(console, columns(details, kind_column)) {}

void Listing::row(model::JobKind kind, std::vector<Cell> cells) {
  if (kind_column_) cells.insert(cells.begin(), Cell{std::string(model::to_word(kind))});
  table_.add(std::move(cells));
}

void Listing::add(const ledger::JobSummary& summary) {
  ++listed_;
  const ledger::JobRecord& job = summary.job;
  const std::string id = job.facts.job_id.str();
  if (console_.json) return print_json(console_, job_json(summary));
  if (ids_only_) {
    console_.out << id << '\n';
    return;
  }
  const Colour colour = colour_of(job.state);
  const bool whole_id = details_ || !console_.out_is_terminal;
  std::vector<Cell> cells = {{std::string(model::to_word(job.state)), colour}, {age_of(summary, now_)}};
  if (details_) {
    cells.push_back({job.attempt_count > 0 ? std::to_string(job.attempt_count) : "-"});
    const std::string worker = summary.worker_id ? short_id(summary.worker_id->str()) : "-";
    cells.push_back(summary.lease_over ? Cell{worker + " lapsed", Colour::kRed} : Cell{worker});
  }
  cells.push_back({whole_id ? id : short_id(id)});
  if (details_) cells.push_back({base::escape(job.facts.object_id)});
  cells.push_back({base::escape(job.facts.vault_path)});
  Cell reason{why(summary, now_), colour};
  if (summary.lease_over && !details_) reason = {"its worker's lease is over", Colour::kRed};
  cells.push_back(std::move(reason));
  row(job.facts.kind, std::move(cells));
}

void Listing::add(const ledger::FileSummary& file, model::JobKind kind) {
  ++listed_;
  if (console_.json) {
    nlohmann::json object = file_json(file);
    object["kind"] = model::to_word(kind);
    return print_json(console_, object);
  }
  if (ids_only_) return;  // never a job
  std::vector<Cell> cells = {{std::string(model::to_word(State::kRejected)), Colour::kYellow},
                             {age(now_ - file.taken_at)}};
  if (details_) cells.insert(cells.end(), {{"-"}, {"-"}});
  const std::string id = file.job_id ? file.job_id->str() : "-";
  cells.push_back({details_ || !console_.out_is_terminal ? id : short_id(id)});
  if (details_) cells.push_back({"-"});
  cells.push_back({file.dropped_name});  // escaped by the ledger
  cells.push_back({std::string(model::to_word(file.reason)), Colour::kYellow});
  row(kind, std::move(cells));
}

void Listing::add(const NewFile& file, model::JobKind kind) {
  ++listed_;
  const auto since = file.job    ? std::optional(file.job->created)
                     : file.info ? std::optional(file.info->modified_at)
                                 : std::nullopt;
  if (console_.json) {
    nlohmann::json object = {{"type", "new"},
                             {"kind", model::to_word(kind)},
                             {"state", "NEW"},
                             {"job_id", file.job ? nlohmann::json(file.job->job_id.str()) : nlohmann::json(nullptr)},
                             {"created_at", json_time(since)},
                             {"owner_uid", file.info ? nlohmann::json(file.info->uid) : nlohmann::json(nullptr)}};
    const std::string note = describe(file);
    object["note"] = note.empty() ? nlohmann::json(nullptr) : nlohmann::json(note);
    set_bytes(object, "name", file.name);
    return print_json(console_, object);
  }
  if (ids_only_) {
    if (file.job) console_.out << file.job->job_id.str() << '\n';
    return;
  }
  std::vector<Cell> cells = {{"NEW"}, {since ? age(now_ - *since) : "-"}};
  if (details_) cells.insert(cells.end(), {{"-"}, {"-"}});
  const std::string id = file.job ? file.job->job_id.str() : "-";
  cells.push_back({details_ || !console_.out_is_terminal ? id : short_id(id)});
  if (details_) cells.push_back({"-"});
  // What is inside is not known before it is taken; of a valid name the id has said everything.
  cells.push_back({file.job ? "-" : base::escape(file.name)});
  cells.push_back({describe(file), Colour::kYellow});
  row(kind, std::move(cells));
}

void Listing::note_more(std::int64_t number, const std::string& word, model::JobKind kind) {
  if (number <= 0 || console_.json || ids_only_) return;
  after_ += fmt::format("{} more {}: intray ls {} {}\n", with_commas(number), word, model::to_word(kind), word);
}

void Listing::finish() {
  table_.finish();
  if (!after_.empty()) console_.out << console_.paint(Colour::kDim, after_.substr(0, after_.size() - 1)) << '\n';
  after_.clear();
}

std::string sentence(const Totals& totals) {
  const auto number_of = [&](State state) { return totals.counts.by_state[static_cast<std::size_t>(state)]; };
  std::string live;
  std::string ended;
  const auto add = [](std::string& list, std::int64_t number, const std::string& word) {
    if (number > 0) list += (list.empty() ? "" : ", ") + with_commas(number) + " " + word;
  };
  add(live, number_of(State::kUnknown), "unknown");
  for (const State state : {State::kExecuting, State::kClaimed, State::kRetryable, State::kReady, State::kCreated})
    add(live, number_of(state), lower(model::to_word(state)));
  add(live, totals.fresh, "new");
  for (const State state : {State::kSucceeded, State::kFailed, State::kRejected})
    add(ended, number_of(state), lower(model::to_word(state)));
  if (totals.counts.files > 0)
    add(ended, totals.counts.files, totals.counts.files == 1 ? "file that is no job" : "files that are no job");
  return std::string(model::to_word(totals.kind)) + ": " + (live.empty() ? "nothing waits or runs" : live) +
         (ended.empty() ? "" : "; ended: " + ended);
}

void print_totals(Console& console, const Totals& totals) {
  if (console.json) {
    nlohmann::json by_state = nlohmann::json::object();
    for (int i = 0; i < model::kStates; ++i)
      by_state[std::string(model::to_word(static_cast<State>(i)))] =
          totals.counts.by_state[static_cast<std::size_t>(i)];
    print_json(console, {{"type", "summary"},
                         {"kind", model::to_word(totals.kind)},
                         {"counts", totals.ledger_read ? by_state : nlohmann::json(nullptr)},
                         {"files", totals.counts.files},
                         {"new", totals.fresh},
                         {"tmp", totals.in_tmp},
                         {"listed", totals.listed},
                         {"vanished", totals.vanished},
                         {"unreadable", totals.unreadable}});
    return;
  }
  const bool unknown = totals.counts.by_state[static_cast<std::size_t>(State::kUnknown)] > 0;
  if (totals.listed > 0) console.out << '\n';
  console.out << console.paint(unknown ? Colour::kRed : Colour::kNone, sentence(totals)) << '\n';
  std::string complete = "listed " + with_commas(totals.listed);
  complete += totals.vanished > 0 ? ", " + with_commas(totals.vanished) + " vanished meanwhile" : "";
  complete += totals.unreadable > 0 ? ", " + with_commas(totals.unreadable) + " unreadable" : ", none unreadable";
  if (totals.in_tmp > 0) complete += "; " + with_commas(totals.in_tmp) + " in tmp/, not handed over";
  console.out << console.paint(Colour::kDim, complete) << '\n';
}

}  // namespace intray::cli
