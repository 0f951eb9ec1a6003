#include "ledger_site.h"

namespace intray::test {
namespace {

base::Sha256 hash_of(const std::string& text) { return base::sha256(text); }

}  // namespace

TempDir::TempDir() {
  const char* const base = std::getenv("TMPDIR");
  std::string pattern = std::string(base == nullptr ? "/tmp" : base) + "/intray-ledger-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

LedgerSite::LedgerSite(model::JobKind kind) {
  base::init_crypto();
  options.path = dir.path() + "/ledger.db";
  options.kind = kind;
  options.boot_id = "boot-1";
  options.reserve_bytes = 0;
  options.busy_timeout = std::chrono::milliseconds{50};
  if (kind == model::JobKind::kDelete) identity = {"site", "delete", "delete/0"};
  open();
  held = hold(identity);
}

base::Result<std::unique_ptr<ledger::Ledger>> LedgerSite::try_open() { return ledger::open_sqlite(options, clock); }

void LedgerSite::open() { ledger_ = value_of(try_open()); }

std::unique_ptr<ledger::Ledger> LedgerSite::second() { return value_of(ledger::open_sqlite(options, clock)); }

ledger::HeldLease LedgerSite::hold(const ledger::Identity& who) { return hold(*ledger_, who); }

ledger::HeldLease LedgerSite::hold(ledger::Ledger& by, const ledger::Identity& who) {
  const auto connector = base::WorkerId::generate();
  auto decision = value_of(by.acquire(who, connector, "claim,effect:save", kTtl));
  if (!decision) {
    REQUIRE(decision.error().reason == model::Reason::kTakeoverRequired);
    decision = value_of(by.takeover(who, decision.error().current->epoch, connector, "claim,effect:save", kTtl));
  }
  REQUIRE(decision);
  return *decision;
}

void LedgerSite::die_and_take_over() {
  clock.advance(kTtl);
  held = hold(identity);
}

ledger::Admit LedgerSite::job(const JobSpec& spec) {
  ledger::Admit admit;
  ledger::JobFacts facts;
  const auto own = base::JobId::generate();
  facts.job_id = spec.job_id.value_or(own);
  facts.mission_id = base::MissionId::generate();
  facts.kind = spec.kind;
  facts.object_id = spec.object_id.empty() ? "p-" + own.str() : spec.object_id;
  facts.vault_path = spec.path.empty() ? "/app/vault/" + own.str() + ".md" : spec.path;
  facts.commit = spec.commit;
  facts.provenance_hash = hash_of(facts.object_id + facts.commit);
  facts.expected_state = "UNSET";
  facts.created_at = clock.wall();
  facts.idempotency_key = spec.key.value_or(base::IdempotencyKey::generate());
  if (spec.key) facts.mission_id = *base::MissionId::from_bytes(spec.key->view());
  if (spec.kind == model::JobKind::kSave) {
    admit.bytes = model::to_canonical(model::SaveJob{.job_id = facts.job_id,
                                                     .mission_id = facts.mission_id,
                                                     .object_id = facts.object_id,
                                                     .vault_path = facts.vault_path,
                                                     .source_commit = facts.commit,
                                                     .provenance_hash = facts.provenance_hash,
                                                     .expected_state = facts.expected_state,
                                                     .created_at = facts.created_at,
                                                     .created_at_text = base::format_rfc3339(facts.created_at),
                                                     .idempotency_key = facts.idempotency_key});
  } else {
    facts.delete_request_id = base::DeleteRequestId::generate();
    facts.approval_id = base::ApprovalId::generate();
    admit.bytes = model::to_canonical(model::DeleteJob{.job_id = facts.job_id,
                                                       .mission_id = facts.mission_id,
                                                       .delete_request_id = *facts.delete_request_id,
                                                       .object_id = facts.object_id,
                                                       .vault_path = facts.vault_path,
                                                       .expected_commit = facts.commit,
                                                       .expected_provenance_hash = facts.provenance_hash,
                                                       .approval_id = *facts.approval_id,
                                                       .created_at = facts.created_at,
                                                       .created_at_text = base::format_rfc3339(facts.created_at),
                                                       .idempotency_key = facts.idempotency_key});
  }
  admit.name_created_us = base::to_us(facts.created_at);
  admit.dropped_name = std::to_string(admit.name_created_us) + "." + facts.job_id.str() + ".json";
  admit.take = base::TakeNumber{held.epoch.value * base::kTakesPerEpoch + ++takes_};
  admit.owner_uid = 1000;
  admit.taken_at = clock.wall();
  admit.sha256 = base::sha256(admit.bytes);
  admit.facts = facts;
  admit.claim_now = spec.claim_now;
  return admit;
}

ledger::Admit LedgerSite::bad_file(model::Reason reason) {
  ledger::Admit admit;
  admit.dropped_name = "evil\x1b[2Jname";
  admit.take = base::TakeNumber{held.epoch.value * base::kTakesPerEpoch + ++takes_};
  admit.owner_uid = 1001;
  admit.taken_at = clock.wall();
  admit.sha256 = base::sha256("{");
  admit.refusal = reason;
  admit.detail = "member \"a\" twice";
  return admit;
}

ledger::Start LedgerSite::start_of(const Hand& hand, const std::string& content) {
  return {hand.seq, hand.claim, base::AttemptId::generate(), hash_of("effect of " + content), hash_of(content)};
}

ledger::Finish LedgerSite::finish_of(const Hand& hand, model::Event event, std::optional<model::ResultWord> result) {
  ledger::Finish finish;
  finish.seq = hand.seq;
  finish.claim_id = hand.claim;
  finish.event = event;
  finish.result = result;
  return finish;
}

ledger::Admitted LedgerSite::admit(const ledger::Admit& file) {
  ledger::Batch batch;
  batch.admits.push_back(file);
  return commit(batch).admitted.at(0);
}

Hand LedgerSite::claimed(const JobSpec& spec) {
  const auto admitted = admit(job(spec));
  REQUIRE(admitted.admission == ledger::Admission::kClaimed);
  REQUIRE(admitted.job);
  return {admitted.job->seq, *admitted.job->claim_id};
}

Hand LedgerSite::executing(const JobSpec& spec) {
  const Hand hand = claimed(spec);
  ledger::Batch batch;
  batch.starts.push_back(start_of(hand, "of " + std::to_string(hand.seq.value)));
  REQUIRE(commit(batch).started.at(0).ok);
  return hand;
}

ledger::Ended LedgerSite::ended_by(const ledger::Finish& finish) {
  ledger::Batch batch;
  batch.finishes.push_back(finish);
  const auto result = commit(batch);
  REQUIRE(result.finished.at(0));
  REQUIRE(!result.ended.empty());
  return result.ended.front();
}

ledger::Ended LedgerSite::applied(const JobSpec& spec) {
  return ended_by(finish_of(executing(spec), model::Event::kConfirm, model::ResultWord::kApplied));
}

model::State LedgerSite::state_of(base::JobSeq seq) {
  const auto state = model::parse_state(text("SELECT state FROM jobs WHERE seq = " + std::to_string(seq.value)));
  REQUIRE(state);
  return *state;
}

ledger::sqlite::Database& LedgerSite::sql() {
  using ledger::sqlite::Database;
  if (!sql_)
    sql_.emplace(value_of(Database::open(options.path, Database::Mode::kWrite, std::chrono::milliseconds{50})));
  return *sql_;
}

std::string LedgerSite::trail(base::JobSeq seq) { return trail_where("job_seq = " + std::to_string(seq.value)); }

std::string LedgerSite::trail_where(const std::string& condition) {
  return text(
      "SELECT group_concat(event || coalesce(':' || move, ''), ' ') FROM (SELECT event, move FROM audit WHERE " +
      condition + " ORDER BY seq)");
}

}  // namespace intray::test
