// Purpose:    builds SAVE jobs from a git repository, and judges them with the executor's own gates.
// Process:    the requester: what is built here is believed by nobody, it only spares a refusal later.
// Trust:      the repository's contents are untrusted data.
// Thread use: one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/settings.h"
#include "executor/save/gates.h"
#include "model/job.h"
#include "source/source.h"

namespace intray::cli {

struct SaveRequest {
  base::MissionId mission;
  std::optional<std::string> object_id;                 // claimed instead of the note's own
  std::optional<base::IdempotencyKey> idempotency_key;  // else a new one
};

struct BuiltJob {
  std::string note;                        // its path in the repository, raw
  std::optional<model::SaveJob> job;       // nullopt: can't be written as a job at all
  std::string bytes;                       // canonical
  std::optional<source::Refusal> refusal;  // why the executor would refuse it
};

class SaveBuilder {
 public:
  // `revision`: anything git resolves. Without branches in the settings, what needs them is not judged.
  static base::Result<SaveBuilder> open(const std::string& repository, const std::string& revision,
                                        const config::Settings& settings, const base::Clock& clock);

  const std::string& commit() const { return commit_; }
  // Notes of the commit: paths below the prefix with an allowed ending, in tree order.
  base::Result<std::vector<std::string>> notes();
  // `path`: in the repository, or with the vault root in front.
  BuiltJob build(const std::string& path, const SaveRequest& request);

 private:
  SaveBuilder(std::unique_ptr<source::Source> source, source::ContentRules rules, const config::Settings& settings,
              const base::Clock& clock);
  std::optional<source::Refusal> judge(const BuiltJob& built) const;
  std::optional<source::Refusal> read(const std::string& note, source::NoteFacts& facts) const;

  std::unique_ptr<source::Source> source_;
  std::unique_ptr<source::ContentRules> content_rules_;  // on the heap: the gates refer to them
  std::unique_ptr<executor::save::Gates> gates_;
  const config::Settings* settings_;
  const base::Clock* clock_;
  source::NoteRules note_rules_;
  std::string commit_;
};

// The repository path of what a person typed; nullopt where it is outside the prefix.
std::optional<std::string> repository_path(const std::string& typed, const config::Settings& settings);

}  // namespace intray::cli
