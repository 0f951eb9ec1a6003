#include "ledger/sqlite/audit.h"

#include <array>

#include "model/canonical_writer.h"

namespace intray::ledger::sqlite {
namespace {

// A member without a value is left out. Ids, hashes and words need no escapes: they are written straight, because every
// step of every job passes here.
class CanonicalRow {
 public:
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) writer_.text(name, value);
  }
  void integer(std::string_view name, std::int64_t value) { writer_.number(name, value); }
  template <class Tag>
  void id(std::string_view name, const std::optional<base::Uuid<Tag>>& value) {
    if (!value) return;
    std::array<char, 38> quoted;
    std::size_t at = 0;
    quoted[at++] = '"';
    for (std::size_t i = 0; i < value->bytes.size(); ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) quoted[at++] = '-';
      at = put_hex(quoted, at, value->bytes[i]);
    }
    quoted[at++] = '"';
    writer_.raw(name, {quoted.data(), at});
  }
  void hash(std::string_view name, const std::optional<base::Sha256>& value) {
    if (!value) return;
    std::array<char, 66> quoted;
    std::size_t at = 0;
    quoted[at++] = '"';
    for (const std::uint8_t byte : value->bytes) at = put_hex(quoted, at, byte);
    quoted[at++] = '"';
    writer_.raw(name, {quoted.data(), at});
  }
  template <class Tag>
  void number(std::string_view name, const std::optional<base::Number<Tag>>& value) {
    if (value) integer(name, value->value);
  }
  template <class Word>
  void word(std::string_view name, const std::optional<Word>& value) {
    if (value) text(name, model::to_word(*value));
  }
  std::string finish() { return writer_.finish(); }

 private:
  template <std::size_t N>
  static std::size_t put_hex(std::array<char, N>& out, std::size_t at, std::uint8_t byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out[at] = kDigits[byte >> 4];
    out[at + 1] = kDigits[byte & 0xf];
    return at + 2;
  }

  model::CanonicalWriter writer_{768};
};

template <class Row>
void link(ChainHead& head, Row& row, std::int64_t seq) {
  row.prev_hash = head.hash;
  row.hash = chained_hash(head.hash, row);
  head = {seq, row.hash};
}

// "" is stored as NULL: an audit row has no empty values.
std::optional<std::string_view> some(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace

std::string canonical(const AuditRow& row) {
  CanonicalRow object;
  object.text("actor", row.actor);
  object.id("approval_id", row.approval_id);
  object.integer("at", base::to_us(row.at));
  object.id("attempt", row.attempt);
  object.id("claim_id", row.claim_id);
  object.text("detail", row.detail);
  object.number("epoch", row.epoch);
  object.text("event", row.event);
  object.number("fence", row.fence);
  object.word("from_state", row.from_state);
  object.id("job_id", row.job_id);
  object.text("job_type", row.job_type);
  object.id("mission_id", row.mission_id);
  object.text("object_id", row.object_id);
  object.hash("provenance_hash", row.provenance_hash);
  object.word("reason", row.reason);
  object.word("result", row.result);
  object.text("row", row.row);
  object.integer("seq", row.seq.value);
  object.word("to_state", row.to_state);
  object.id("worker_id", row.worker_id);
  return object.finish();
}

std::string canonical(const LeaseAuditRow& row) {
  CanonicalRow object;
  object.text("agent", row.identity.agent);
  object.integer("at", base::to_us(row.at));
  object.text("binding", row.identity.binding);
  object.text("connector_id", row.connector_id.str());
  object.id("correlation", row.correlation);
  object.number("epoch", row.epoch);
  object.text("event", row.event);
  object.text("outcome", row.outcome);
  object.word("reason", row.reason);
  object.integer("seq", row.seq);
  object.text("tenant", row.identity.tenant);
  return object.finish();
}

base::Result<void> append(Statement& insert_audit, ChainHead& head, AuditRow& row, std::optional<base::JobSeq> job) {
  row.seq = base::AuditSeq{head.seq + 1};
  link(head, row, row.seq.value);
  Use use(insert_audit);
  use.bind(row.seq).bind(row.at).bind(row.event).bind(job).bind(row.job_id).bind(row.mission_id);
  use.bind(some(row.job_type)).bind(some(row.object_id)).bind(row.from_state).bind(row.to_state).bind(some(row.row));
  use.bind(row.worker_id).bind(row.claim_id).bind(row.attempt).bind(row.epoch).bind(row.fence).bind(row.reason);
  use.bind(row.result).bind(row.approval_id).bind(row.provenance_hash).bind(some(row.actor)).bind(some(row.detail));
  use.bind(row.prev_hash).bind(row.hash);
  INTRAY_TRY(use.change());
  return {};
}

base::Result<void> append(Statement& insert_lease_audit, ChainHead& head, LeaseAuditRow& row) {
  row.seq = head.seq + 1;
  link(head, row, row.seq);
  Use use(insert_lease_audit);
  use.bind(row.seq).bind(row.at).bind(row.event).bind(row.outcome).bind(row.reason).bind(row.identity.tenant);
  use.bind(row.identity.agent).bind(row.identity.binding).bind(row.connector_id).bind(row.epoch).bind(row.correlation);
  use.bind(row.prev_hash).bind(row.hash);
  INTRAY_TRY(use.change());
  return {};
}

base::Result<ChainHead> read_head(Statement& statement) {
  Use use(statement);
  ChainHead head;
  if (!INTRAY_TRY(use.next())) return head;
  head.seq = use.integer();
  head.hash = use.hash();
  INTRAY_TRY(use.intact());
  return head;
}

AuditRow read_audit_row(Use& use) {
  AuditRow row;
  row.seq = use.number<base::AuditSeq>();
  row.at = use.time();
  row.event = use.text();
  row.job_id = use.id_or_null<base::JobId>();
  row.mission_id = use.id_or_null<base::MissionId>();
  row.job_type = use.text();
  row.object_id = use.text();
  row.from_state = use.state_or_null();
  row.to_state = use.state_or_null();
  row.row = use.text();
  row.worker_id = use.id_or_null<base::WorkerId>();
  row.claim_id = use.id_or_null<base::ClaimId>();
  row.attempt = use.id_or_null<base::AttemptId>();
  row.epoch = use.number_or_null<base::Epoch>();
  row.fence = use.number_or_null<base::Fence>();
  row.reason = use.reason_or_null();
  row.result = use.result_or_null();
  row.approval_id = use.id_or_null<base::ApprovalId>();
  row.provenance_hash = use.hash_or_null();
  row.actor = use.text();
  row.detail = use.text();
  row.prev_hash = use.hash();
  row.hash = use.hash();
  return row;
}

LeaseAuditRow read_lease_audit_row(Use& use) {
  LeaseAuditRow row;
  row.seq = use.integer();
  row.at = use.time();
  row.event = use.text();
  row.outcome = use.text();
  row.reason = use.reason_or_null();
  row.identity.tenant = use.text();
  row.identity.agent = use.text();
  row.identity.binding = use.text();
  row.connector_id = use.id<base::WorkerId>();
  row.epoch = use.number_or_null<base::Epoch>();
  row.correlation = use.id_or_null<base::LeaseId>();
  row.prev_hash = use.hash();
  row.hash = use.hash();
  return row;
}

}  // namespace intray::ledger::sqlite
