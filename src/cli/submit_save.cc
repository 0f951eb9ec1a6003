#include "cli/submit_save.h"

#include "base/escape.h"
#include "cli/exit_code.h"
#include "cli/save_builder.h"
#include "cli/site.h"

namespace intray::cli {
namespace {

base::Result<config::Settings> settings_for(const Site& site, const SubmitSaveOptions& options) {
  auto settings = settings_of(site, model::JobKind::kSave);
  // A requester may hand over where it can't see the settings; flags then say what differs from the defaults.
  const bool blind = !settings && (settings.error().code == base::ErrorCode::kNotFound ||
                                   settings.error().code == base::ErrorCode::kDenied);
  if (!settings && !blind) return std::unexpected(std::move(settings).error());
  config::Settings out = settings ? std::move(*settings) : config::Settings{};
  if (!options.branches.empty()) out.source.branches = options.branches;
  if (!options.vault_root.empty()) out.vault_root = options.vault_root;
  if (!options.prefix.empty()) out.source.prefix = options.prefix;
  return out;
}

base::Result<SaveRequest> request_of(const SubmitSaveOptions& options) {
  SaveRequest out{.mission = base::MissionId::generate(), .object_id = std::nullopt, .idempotency_key = std::nullopt};
  const auto fail = [](const char* option, const std::string& value) {
    return base::fail(base::ErrorCode::kInvalid,
                      std::string(option) + " " + base::escape(value) + ": not a UUIDv4 in lower case");
  };
  if (!options.mission.empty()) {
    const auto id = base::MissionId::parse(options.mission);
    if (!id) return fail("--mission", options.mission);
    out.mission = *id;
  }
  if (!options.idempotency_key.empty()) {
    const auto key = base::IdempotencyKey::parse(options.idempotency_key);
    if (!key) return fail("--idempotency-key", options.idempotency_key);
    out.idempotency_key = *key;
  }
  if (!options.object_id.empty()) out.object_id = options.object_id;
  if ((out.object_id || out.idempotency_key) && (options.all || options.paths.size() != 1))
    return base::fail(base::ErrorCode::kInvalid,
                      "--object and --idempotency-key belong to one note: give exactly one --path");
  if (options.all != options.paths.empty())
    return base::fail(base::ErrorCode::kInvalid, "say which notes: --path PATH, once or more, or --all");
  return out;
}

}  // namespace

int run_submit_save(Console& console, const SubmitSaveOptions& options) {
  const auto request = request_of(options);
  if (!request) {
    complain(console, request.error());
    return kUsage;
  }
  const auto site = find_site(options.common.root);
  const auto settings =
      site ? settings_for(*site, options) : base::Result<config::Settings>(std::unexpected(site.error()));
  if (!settings) {
    complain(console, settings.error());
    return kNo;
  }
  const std::string repository = options.repository.empty() ? settings->source.mirror : options.repository;
  if (repository.empty()) {
    complain(console, "which repository? --repo DIR");
    return kUsage;
  }
  auto builder = SaveBuilder::open(repository, options.commit, *settings, console.clock);
  if (!builder) {
    complain(console, builder.error());
    return builder.error().code == base::ErrorCode::kUnavailable ? kTryAgain : kNo;
  }
  std::vector<std::string> paths = options.paths;
  if (options.all) {
    auto notes = builder->notes();
    if (!notes) {
      complain(console, notes.error());
      return kTryAgain;
    }
    paths = std::move(*notes);
    if (paths.empty()) {
      complain(console, repository + ": commit " + builder->commit() + " holds no note");
      return kNo;
    }
  }
  Sender sender(console, options.common, site->root, static_cast<std::int64_t>(paths.size()));
  // Of a site whose settings can't be seen, nobody knows the requesters.
  if (!settings->requester_uids.empty() && !sender.user_may(settings)) return sender.finish();
  for (const std::string& path : paths) {
    BuiltJob built = builder->build(path, *request);
    const std::string label = base::escape(built.note);
    if (!built.job || (built.refusal && !options.common.force)) {
      sender.refuse(label, model::to_word(built.refusal->reason), built.refusal->detail);
      continue;
    }
    sender.send(model::JobKind::kSave,
                {.name = {built.job->created_at, built.job->job_id}, .bytes = std::move(built.bytes), .label = label});
  }
  return sender.finish();
}

}  // namespace intray::cli
