#include "ledger/sqlite/leases.h"

namespace intray::ledger::sqlite {
namespace {

using model::Reason;

struct Asked {
  const Identity& identity;
  const base::WorkerId& connector;
  std::optional<base::Epoch> epoch;
  std::optional<base::LeaseId> lease_id;
};

base::Result<void> record(LeaseWork& work, const Asked& asked, std::string_view event, std::optional<Reason> refused) {
  LeaseAuditRow row;
  row.at = work.now;
  row.event = event;
  row.outcome = refused ? "REFUSED" : "GRANTED";
  row.reason = refused;
  row.identity = asked.identity;
  row.connector_id = asked.connector;
  row.epoch = asked.epoch;
  row.correlation = asked.lease_id;
  return append(work.sql.insert_lease_audit, work.audit, row);
}

base::Result<LeaseDecision> refuse(LeaseWork& work, const Asked& asked, std::string_view event, Reason reason,
                                   std::optional<LeaseRow> current) {
  INTRAY_TRY(record(work, asked, event, reason));
  return LeaseDecision(std::unexpected(LeaseRefusal{reason, std::move(current)}));
}

// A new holding under the next epoch of the kind's counter.
base::Result<HeldLease> new_holding(LeaseWork& work, const Identity& identity, const base::WorkerId& connector,
                                    base::Micros ttl) {
  HeldLease held;
  held.identity = identity;
  held.lease_id = base::LeaseId::generate();
  held.connector_id = connector;
  held.expires_boot = work.boot_now + ttl;
  {
    Use use(work.sql.draw_epoch);
    if (!INTRAY_TRY(use.next())) return base::fail(base::ErrorCode::kCorrupt, "ledger: its one row is missing");
    held.epoch = use.number<base::Epoch>();
  }
  Use use(work.sql.insert_epoch);
  use.bind(held.epoch).bind(identity.binding).bind(held.lease_id).bind(connector).bind(work.now);
  INTRAY_TRY(use.change());
  return held;
}

std::int64_t boot_us(base::BootTime time) { return time.time_since_epoch().count(); }

}  // namespace

LeaseRow read_lease_columns(Use& use, Identity identity) {
  LeaseRow row;
  row.identity = std::move(identity);
  row.lease_id = use.id<base::LeaseId>();
  row.connector_id = use.id<base::WorkerId>();
  row.scopes = use.text();
  row.epoch = use.number<base::Epoch>();
  row.acquired_at = use.time();
  row.heartbeat_at = use.time();
  row.expires_at = use.time();
  row.released_at = use.time_or_null();
  row.boot_id = use.text();
  row.expires_boot = base::BootTime{base::Micros{use.integer()}};
  return row;
}

base::Result<std::optional<LeaseRow>> read_lease(Statements& sql, const Identity& identity) {
  Use use(sql.read_lease);
  if (!INTRAY_TRY(use.bind(identity.tenant).bind(identity.agent).bind(identity.binding).next())) return std::nullopt;
  LeaseRow row = read_lease_columns(use, identity);
  INTRAY_TRY(use.intact());
  return row;
}

bool is_expired(const LeaseRow& row, base::BootTime boot_now, const std::string& boot_id) {
  return row.boot_id != boot_id || boot_now >= row.expires_boot;
}

bool is_same_holding(const LeaseRow& row, const HeldLease& held) {
  return row.identity == held.identity && row.lease_id == held.lease_id && row.connector_id == held.connector_id &&
         row.epoch == held.epoch && !row.released_at;
}

base::Result<LeaseDecision> acquire(LeaseWork& work, const Identity& identity, const base::WorkerId& connector,
                                    const std::string& scopes, base::Micros ttl) {
  auto current = INTRAY_TRY(read_lease(work.sql, identity));
  if (current) {
    const bool active = !current->released_at && !is_expired(*current, work.boot_now, work.boot_id);
    const Asked asked{identity, connector, current->epoch, std::nullopt};
    return refuse(work, asked, "LEASE_REFUSED", active ? Reason::kLeaseHeld : Reason::kTakeoverRequired,
                  std::move(current));
  }
  const HeldLease held = INTRAY_TRY(new_holding(work, identity, connector, ttl));
  {
    Use use(work.sql.insert_lease);
    use.bind(identity.tenant)
        .bind(identity.agent)
        .bind(identity.binding)
        .bind(held.lease_id)
        .bind(connector)
        .bind(scopes);
    use.bind(held.epoch).bind(work.now).bind(work.now).bind(work.now + ttl).bind(work.now).bind(work.boot_id);
    INTRAY_TRY(use.bind(boot_us(held.expires_boot)).change());
  }
  INTRAY_TRY(record(work, {identity, connector, held.epoch, held.lease_id}, "LEASE_ACQUIRED", std::nullopt));
  return LeaseDecision(held);
}

base::Result<LeaseDecision> take_over(LeaseWork& work, const Identity& identity, base::Epoch current_epoch,
                                      const base::WorkerId& connector, const std::string& scopes, base::Micros ttl) {
  auto current = INTRAY_TRY(read_lease(work.sql, identity));
  const Asked asked{identity, connector, current_epoch, std::nullopt};
  if (!current || current->epoch != current_epoch) {
    return refuse(work, asked, "LEASE_REFUSED", Reason::kEpochMismatch, std::move(current));
  }
  if (!current->released_at && !is_expired(*current, work.boot_now, work.boot_id)) {
    return refuse(work, asked, "LEASE_REFUSED", Reason::kLeaseHeld, std::move(current));
  }
  const HeldLease held = INTRAY_TRY(new_holding(work, identity, connector, ttl));
  {
    Use use(work.sql.take_over_lease);
    use.bind(held.lease_id).bind(connector).bind(scopes).bind(held.epoch).bind(work.now).bind(work.now);
    use.bind(work.now + ttl).bind(work.now).bind(work.boot_id).bind(boot_us(held.expires_boot)).bind(identity.tenant);
    INTRAY_TRY(use.bind(identity.agent).bind(identity.binding).bind(current_epoch).swap());
  }
  INTRAY_TRY(record(work, {identity, connector, held.epoch, held.lease_id}, "LEASE_TAKEOVER", std::nullopt));
  return LeaseDecision(held);
}

base::Result<LeaseDecision> heartbeat(LeaseWork& work, const HeldLease& held, base::Micros ttl) {
  auto current = INTRAY_TRY(read_lease(work.sql, held.identity));
  const Asked asked{held.identity, held.connector_id, held.epoch, held.lease_id};
  if (!current || !is_same_holding(*current, held)) {
    return refuse(work, asked, "LEASE_HEARTBEAT_REFUSED", Reason::kStaleLease, std::move(current));
  }
  if (is_expired(*current, work.boot_now, work.boot_id)) {
    return refuse(work, asked, "LEASE_HEARTBEAT_REFUSED", Reason::kLeaseExpired, std::move(current));
  }
  HeldLease renewed = held;
  renewed.expires_boot = work.boot_now + ttl;
  {
    Use use(work.sql.renew_lease);
    use.bind(work.now).bind(work.now + ttl).bind(work.now).bind(work.boot_id).bind(boot_us(renewed.expires_boot));
    use.bind(held.identity.tenant).bind(held.identity.agent).bind(held.identity.binding).bind(held.lease_id);
    INTRAY_TRY(use.bind(held.connector_id).bind(held.epoch).swap());
  }
  Use use(work.sql.renew_job_leases);
  INTRAY_TRY(use.bind(work.now + ttl).bind(held.identity.binding).bind(held.epoch).change());
  return LeaseDecision(renewed);
}

base::Result<std::expected<std::monostate, LeaseRefusal>> release(LeaseWork& work, const HeldLease& held) {
  using Decision = std::expected<std::monostate, LeaseRefusal>;
  auto current = INTRAY_TRY(read_lease(work.sql, held.identity));
  const Asked asked{held.identity, held.connector_id, held.epoch, held.lease_id};
  if (!current || !is_same_holding(*current, held)) {
    INTRAY_TRY(record(work, asked, "LEASE_REFUSED", Reason::kStaleLease));
    return Decision(std::unexpected(LeaseRefusal{Reason::kStaleLease, std::move(current)}));
  }
  {
    Use use(work.sql.release_lease);
    use.bind(work.now).bind(work.now).bind(held.identity.tenant).bind(held.identity.agent).bind(held.identity.binding);
    INTRAY_TRY(use.bind(held.lease_id).bind(held.connector_id).bind(held.epoch).swap());
  }
  INTRAY_TRY(record(work, asked, "LEASE_RELEASED", std::nullopt));
  return Decision(std::monostate{});
}

}  // namespace intray::ledger::sqlite
