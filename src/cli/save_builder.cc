#include "cli/save_builder.h"

#include <algorithm>

#include "base/escape.h"
#include "base/utf8.h"
#include "model/effect.h"
#include "model/excerpt.h"

namespace intray::cli {
namespace {

using model::Reason;
using source::Refusal;

executor::save::GateRules gate_rules(const config::Settings& settings, const source::NoteRules& note) {
  return {.vault_root = settings.vault_root,
          .prefix = settings.source.prefix,
          .note = note,
          .historical = settings.source.historical};
}

ledger::JobFacts facts_of(const model::SaveJob& job) {
  ledger::JobFacts facts;
  facts.job_id = job.job_id;
  facts.mission_id = job.mission_id;
  facts.object_id = job.object_id;
  facts.vault_path = job.vault_path;
  facts.commit = job.source_commit;
  facts.provenance_hash = job.provenance_hash;
  facts.expected_state = job.expected_state;
  facts.created_at = job.created_at;
  facts.idempotency_key = job.idempotency_key;
  return facts;
}

}  // namespace

std::optional<std::string> repository_path(const std::string& typed, const config::Settings& settings) {
  std::string path = typed;
  const std::string& prefix = settings.source.prefix;
  if (path.starts_with(settings.vault_root + "/"))
    return (prefix.empty() ? "" : prefix + "/") + path.substr(settings.vault_root.size() + 1);
  while (path.starts_with("./")) path.erase(0, 2);
  if (!prefix.empty() && !path.starts_with(prefix + "/")) return std::nullopt;
  return path;
}

SaveBuilder::SaveBuilder(std::unique_ptr<source::Source> source, source::ContentRules rules,
                         const config::Settings& settings, const base::Clock& clock)
    : source_(std::move(source)),
      content_rules_(std::make_unique<source::ContentRules>(std::move(rules))),
      settings_(&settings),
      clock_(&clock),
      note_rules_{.id_from_front_matter = settings.source.object_id_from == config::ObjectIdFrom::kFrontMatter,
                  .id_key = settings.source.object_id_key,
                  .state_key = settings.source.state_key} {
  gates_ = std::make_unique<executor::save::Gates>(*source_, *content_rules_, gate_rules(settings, note_rules_));
}

base::Result<SaveBuilder> SaveBuilder::open(const std::string& repository, const std::string& revision,
                                            const config::Settings& settings, const base::Clock& clock) {
  source::Options options;
  options.path = repository;
  options.branches = settings.source.branches;
  options.object_format = settings.source.object_format;
  options.content_bytes_max = settings.source.content_bytes_max;
  auto rules = INTRAY_TRY(source::ContentRules::compile(settings.source.secret_patterns));
  SaveBuilder out(INTRAY_TRY(source::Source::open(options, clock)), std::move(rules), settings, clock);
  const auto commit = out.source_->resolve(revision);
  if (!commit)
    return base::fail(base::ErrorCode::kNotFound, repository + ": " + base::escape(revision) + ": " +
                                                      std::string(model::to_word(commit.error().reason)) + ": " +
                                                      commit.error().detail);
  out.commit_ = *commit;
  if (!options.branches.empty()) {
    if (const auto heads = out.source_->refresh(); !heads)
      return base::fail(base::ErrorCode::kInvalid, repository + ": " + heads.error().detail);
  }
  return out;
}

base::Result<std::vector<std::string>> SaveBuilder::notes() {
  auto entries = source_->list(commit_);
  if (!entries)
    return base::fail(base::ErrorCode::kUnavailable,
                      std::string(model::to_word(entries.error().reason)) + ": " + entries.error().detail);
  std::vector<std::string> out;
  const std::string below = settings_->source.prefix.empty() ? "" : settings_->source.prefix + "/";
  for (source::Source::Entry& entry : *entries) {
    // Links and submodules too: a note that is refused is said to be.
    const bool note =
        std::ranges::any_of(settings_->extensions, [&](const std::string& e) { return entry.path.ends_with(e); });
    if (note && entry.path.starts_with(below)) out.push_back(std::move(entry.path));
  }
  return out;
}

std::optional<Refusal> SaveBuilder::read(const std::string& note, source::NoteFacts& facts) const {
  const auto found = source_->find_blob(commit_, note);
  if (!found) return found.error();
  const auto blob = source_->read_blob(*found);
  if (!blob) return blob.error();
  facts = source::describe_note(blob->content, note, note_rules_);
  // With branches the gates look at the content too; without, this is the only look.
  return settings_->source.branches.empty() ? content_rules_->check(blob->content, {}) : std::nullopt;
}

std::optional<Refusal> SaveBuilder::judge(const BuiltJob& built) const {
  const auto contract = model::parse_save_job(built.bytes, settings_->job_rules());
  if (!contract) return Refusal{contract.error().reason, contract.error().detail};
  if (settings_->source.branches.empty()) return std::nullopt;
  const auto verdict = gates_->evaluate(facts_of(*built.job), {}, std::nullopt);
  return verdict ? std::nullopt : std::optional(verdict.error().refusal);
}

BuiltJob SaveBuilder::build(const std::string& path, const SaveRequest& request) {
  BuiltJob out{.note = path, .job = std::nullopt, .bytes = {}, .refusal = std::nullopt};
  const auto note = repository_path(path, *settings_);
  if (!note || !base::is_utf8(*note)) {
    out.refusal = Refusal{Reason::kUnsafePath, !note ? model::excerpt(path) + " is outside the vault's folder " +
                                                           model::excerpt(settings_->source.prefix)
                                                     : model::excerpt(path) + " is not UTF-8"};
    return out;
  }
  out.note = *note;
  source::NoteFacts facts{.object_id = {}, .state = "UNSET", .content_sha256 = base::sha256("")};
  const auto unreadable = read(*note, facts);
  if (request.object_id) facts.object_id = *request.object_id;
  if (facts.object_id.empty()) facts.object_id = model::object_id_from_path(*note);

  const std::string below =
      settings_->source.prefix.empty() ? *note : note->substr(settings_->source.prefix.size() + 1);
  model::SaveJob job;
  job.job_id = base::JobId::generate();
  job.mission_id = request.mission;
  job.object_id = facts.object_id;
  job.vault_path = settings_->vault_root + "/" + below;
  job.source_commit = commit_;
  job.provenance_hash = model::provenance_hash(commit_, facts.content_sha256, facts.object_id, *note, facts.state);
  job.expected_state = facts.state;
  job.created_at = clock_->wall();
  job.created_at_text = base::format_rfc3339(job.created_at);
  job.idempotency_key = request.idempotency_key.value_or(base::IdempotencyKey::generate());
  // What can't be written as canonical JSON at all (an object id that is no UTF-8) can't be handed over either.
  if (!base::is_utf8(job.object_id)) {
    out.refusal = Refusal{Reason::kBadValue, "object_id is not UTF-8"};
    return out;
  }
  out.bytes = model::to_canonical(job);
  out.job = std::move(job);
  out.refusal = judge(out);
  if (!out.refusal) out.refusal = unreadable;
  return out;
}

}  // namespace intray::cli
