// Purpose:    the SAVE executor's operation: job contract, eight gates, one POST.
// Process:    intray-save.
// Trust:      see executor/operation.h; content comes from git alone.
// Thread use: one thread.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "config/settings.h"
#include "executor/operation.h"
#include "executor/save/gates.h"
#include "ledger/ledger.h"
#include "sys/dir.h"

namespace intray::executor::save {

// missions.file: active missions, one UUID a line, `#` comments; reread when it changes. An empty path admits every
// mission.
class Missions {
 public:
  explicit Missions(std::string path) : path_(std::move(path)) {}
  // kInvalid names the first bad line; the former list stays.
  base::Result<void> reload_if_changed();
  bool active(const base::MissionId& id) const { return path_.empty() || ids_.contains(id); }

 private:
  std::string path_;
  std::string loaded_;  // text of the list in force
  std::set<base::MissionId> ids_;
};

class SaveOperation final : public Operation {
 public:
  // `own_credential` is searched for in content and never kept elsewhere.
  SaveOperation(const config::Settings& settings, source::Source& source, const source::ContentRules& content,
                ledger::Ledger& ledger, receiver::Client& client, const receiver::Credential& own_credential);

  std::expected<ledger::JobFacts, model::Rejection> parse(std::string_view bytes) const override;
  std::optional<model::Rejection> refuse_admission(const ledger::JobFacts& job, base::WallTime now) const override;
  source::Answer<void> refresh() override;
  base::Result<source::Answer<std::unique_ptr<Prepared>>> prepare(const ledger::JobRecord& job) override;
  std::optional<source::Refusal> recheck(const ledger::JobRecord& job, const Prepared& prepared) override;
  void send(model::Grant grant, const ledger::JobRecord& job, Prepared& prepared, int repetition,
            std::function<void(receiver::MutationResult)> done) override;
  base::Result<void> load_missions() { return missions_.reload_if_changed(); }

 private:
  const config::Settings& settings_;
  model::JobRules rules_;
  source::Source& source_;
  Gates gates_;
  ledger::Ledger& ledger_;
  receiver::Client& client_;
  const receiver::Credential& own_credential_;
  Missions missions_;
  std::string namespace_digest_;  // first 16 hex digits of SHA-256(namespace)
};

}  // namespace intray::executor::save
