#include "executor/save/save_operation.h"

#include <fmt/format.h>

#include "base/escape.h"
#include "base/log.h"
#include "limits.h"
#include "model/effect.h"

namespace intray::executor::save {
namespace {

using base::LogLevel;
using model::Reason;

class PreparedSave final : public Prepared {
 public:
  Findings findings;
  std::optional<LastApplied> last;
};

GateRules gate_rules(const config::Settings& settings) {
  GateRules rules;
  rules.vault_root = settings.vault_root;
  rules.prefix = settings.source.prefix;
  rules.note.id_from_front_matter = settings.source.object_id_from == config::ObjectIdFrom::kFrontMatter;
  rules.note.id_key = settings.source.object_id_key;
  rules.note.state_key = settings.source.state_key;
  rules.historical = settings.source.historical;
  return rules;
}

}  // namespace

base::Result<void> Missions::reload_if_changed() {
  if (path_.empty()) return {};
  std::string text = INTRAY_TRY(sys::read_file(path_, limits::kMissionsFileBytesMax));
  if (text == loaded_) return {};
  std::set<base::MissionId> ids;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view entry = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (entry.empty() || entry.front() == '#') continue;
    const auto id = base::MissionId::parse(entry);
    if (!id)
      return base::fail(base::ErrorCode::kInvalid,
                        fmt::format("{}:{}: not a mission id: '{}'", path_, line, base::escape(entry.substr(0, 60))));
    ids.insert(*id);
  }
  ids_ = std::move(ids);
  loaded_ = std::move(text);
  return {};
}

SaveOperation::SaveOperation(const config::Settings& settings, source::Source& source,
                             const source::ContentRules& content, ledger::Ledger& ledger, receiver::Client& client,
                             const receiver::Credential& own_credential)
    : settings_(settings),
      rules_(settings.job_rules()),
      source_(source),
      gates_(source, content, gate_rules(settings)),
      ledger_(ledger),
      client_(client),
      own_credential_(own_credential),
      missions_(settings.missions_file),
      namespace_digest_(base::sha256(settings.site_namespace).hex().substr(0, 16)) {}

std::expected<ledger::JobFacts, model::Rejection> SaveOperation::parse(std::string_view bytes) const {
  auto job = model::parse_save_job(bytes, rules_);
  if (!job) return std::unexpected(std::move(job.error()));
  ledger::JobFacts facts;
  facts.job_id = job->job_id;
  facts.mission_id = job->mission_id;
  facts.kind = model::JobKind::kSave;
  facts.object_id = std::move(job->object_id);
  facts.vault_path = std::move(job->vault_path);
  facts.commit = std::move(job->source_commit);
  facts.provenance_hash = job->provenance_hash;
  facts.expected_state = std::move(job->expected_state);
  facts.created_at = job->created_at;
  facts.idempotency_key = job->idempotency_key;
  return facts;
}

std::optional<model::Rejection> SaveOperation::refuse_admission(const ledger::JobFacts& job, base::WallTime now) const {
  if (auto too_old = model::check_age(job.created_at, now, rules_)) return too_old;
  if (!missions_.active(job.mission_id))
    return model::Rejection{Reason::kStaleMission,
                            "mission " + job.mission_id.str() + " is not on the list of active missions", job.job_id};
  return std::nullopt;
}

source::Answer<void> SaveOperation::refresh() {
  if (auto read = missions_.reload_if_changed(); !read)
    base::log(LogLevel::kError, "missions_not_read", {{"error", read.error().what}});
  return source_.refresh();
}

base::Result<source::Answer<std::unique_ptr<Prepared>>> SaveOperation::prepare(const ledger::JobRecord& job) {
  using Out = source::Answer<std::unique_ptr<Prepared>>;
  auto prepared = std::make_unique<PreparedSave>();

  // The effect key needs the content's hash, which the gates find out; what was last applied to the object does not.
  if (const auto last = INTRAY_TRY(ledger_.last_applied(job.facts.object_id, job.facts.vault_path)))
    prepared->last = LastApplied{last->commit, last->content_sha256};

  auto findings = gates_.evaluate(job.facts, own_credential_.reveal(), prepared->last);
  if (!findings) {
    source::Refusal refusal = std::move(findings.error().refusal);
    refusal.detail = fmt::format("gate {} {}: {}", findings.error().gate, findings.error().name, refusal.detail);
    return Out(std::unexpected(std::move(refusal)));
  }
  prepared->findings = std::move(*findings);
  prepared->content_sha256 = prepared->findings.content_sha256;
  prepared->effect_key = model::save_effect_key(prepared->content_sha256, settings_.site_namespace, job.facts.object_id,
                                                job.facts.vault_path, job.facts.commit);
  prepared->held_bytes = static_cast<std::int64_t>(prepared->findings.content.size());

  prepared->read_first = INTRAY_TRY(ledger_.effect_applied(prepared->effect_key)).has_value();
  return Out(std::move(prepared));
}

std::optional<source::Refusal> SaveOperation::recheck(const ledger::JobRecord& job, const Prepared& prepared) {
  const auto& save = dynamic_cast<const PreparedSave&>(prepared);
  auto failure = gates_.recheck_head(job.facts, save.findings, save.last);
  if (!failure) return std::nullopt;
  failure->refusal.detail = fmt::format("gate {} {}: {}", failure->gate, failure->name, failure->refusal.detail);
  return std::move(failure->refusal);
}

void SaveOperation::send(model::Grant grant, const ledger::JobRecord& job, Prepared& prepared, int repetition,
                         std::function<void(receiver::MutationResult)> done) {
  auto& save = dynamic_cast<PreparedSave&>(prepared);
  receiver::SaveRequest request;
  request.vault_path = job.facts.vault_path;
  request.content = std::move(save.findings.content);  // the hash is all that a read-back needs
  request.idempotency_key = model::idempotency_header(save.effect_key, repetition);
  request.fence = fmt::format("{}.save.{}.{}", namespace_digest_, ledger_.ledger_epoch(), job.fence.value);
  client_.save(std::move(grant), std::move(request), std::move(done));
}

}  // namespace intray::executor::save
