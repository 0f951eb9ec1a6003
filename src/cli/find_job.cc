#include "cli/find_job.h"

#include <algorithm>

#include "base/escape.h"
#include "cli/new_files.h"
#include "cli/text.h"

namespace intray::cli {
namespace {

using base::ErrorCode;

constexpr std::size_t kPrefixMin = 4;
constexpr std::size_t kIdLength = 36;
constexpr std::size_t kCandidatesMax = 4;            // named in the message; one more is asked for, to say "and more"
constexpr std::int64_t kFilesLookedAtMax = 100'000;  // the newest; files are no jobs and have no index by id

}  // namespace

std::optional<std::string> normal_prefix(const std::string& text) {
  std::string out = lower(text);
  const bool plain =
      std::ranges::all_of(out, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; });
  if (!plain || out.size() < kPrefixMin || out.size() > kIdLength) return std::nullopt;
  return out;
}

base::Result<FoundJob> find_job(const Site& site, const std::string& text, const base::Clock& clock) {
  const auto prefix = normal_prefix(text);
  if (!prefix)
    return base::fail(ErrorCode::kInvalid,
                      base::escape(text) + ": not the beginning of a job id; give 4 to 36 of its characters");
  std::vector<FoundJob> found;
  const auto known = [&](const base::JobId& id) {
    return std::ranges::any_of(found, [&](const FoundJob& f) { return f.id() == id; });
  };
  for (const model::JobKind kind : INTRAY_TRY(kinds_of(site, std::nullopt))) {
    auto opened = open_reader(site, kind, clock);
    if (!opened && opened.error().code != ErrorCode::kNotFound) return std::unexpected(std::move(opened).error());
    const std::shared_ptr<ledger::Reader> reader =
        opened ? std::shared_ptr<ledger::Reader>(std::move(*opened)) : nullptr;
    if (reader) {
      for (ledger::JobSummary& job : INTRAY_TRY(reader->find(*prefix, kCandidatesMax + 1)))
        found.push_back({.kind = kind, .reader = reader, .job = std::move(job), .file = {}, .only_in_new = {}});
      INTRAY_TRY(reader->files(kFilesLookedAtMax, [&](const ledger::FileSummary& file) {
        const bool match = file.job_id && file.job_id->str().starts_with(*prefix) && !known(*file.job_id);
        if (match && found.size() <= kCandidatesMax)
          found.push_back({.kind = kind, .reader = reader, .job = {}, .file = file, .only_in_new = {}});
      }));
    }
    auto fresh = find_new(site.root, kind, *prefix, kCandidatesMax + 1);
    if (!fresh) continue;  // a reader of the ledger need not be one of new/
    for (const NewFile& file : *fresh)
      if (!known(file.job->job_id))
        found.push_back({.kind = kind, .reader = reader, .job = {}, .file = {}, .only_in_new = file.job->job_id});
  }
  if (found.empty()) return base::fail(ErrorCode::kNotFound, *prefix + ": no job has an id that begins so");
  if (found.size() == 1) return std::move(found.front());
  std::string names;
  for (std::size_t i = 0; i < found.size() && i < kCandidatesMax; ++i)
    names += (i > 0 ? ", " : "") + found[i].id().str();
  if (found.size() > kCandidatesMax) names += " and more";
  return base::fail(ErrorCode::kInvalid, *prefix + ": more than one job has an id that begins so: " + names);
}

}  // namespace intray::cli
